"""The object store: written once, whole or not at all, shared with nobody's results."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from samequantity.errors import IntegrityError
from samequantity.store import files, objects
from samequantity.store.digests import file_digest
from samequantity.store.files import appearing, copy_apart, write_whole
from samequantity.store.manifests import Manifest, Output, Recipe
from samequantity.store.objects import ObjectStore

SRC = Path(files.__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return ObjectStore(root=tmp_path / "store")


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def made(folder: Path, name: str = "smol", content: bytes = b"rows" * 1000) -> tuple[Manifest, dict[str, Path]]:
    """An output of a stage with its manifest."""
    path = folder / f"{name}.parquet"
    write_whole(path, content)
    recipe = Recipe(stage="parse", sources={}, settings={"system": name}, inputs={}, packages={})
    output = Output(sha256=file_digest(path), content=file_digest(path))
    return Manifest(recipe=recipe, outputs={"answers.parquet": output}), {"answers.parquet": path}


def folder_of(store: ObjectStore, manifest: Manifest) -> Path:
    return store.root / "parse" / manifest.key


@pytest.mark.usefixtures("umask")
def test_an_object_is_read_only_readable_by_a_group_and_no_link(store: ObjectStore, tmp_path: Path) -> None:
    manifest, paths = made(tmp_path)
    store.put(manifest, paths)
    stored = sorted(folder_of(store, manifest).iterdir())

    assert ["answers.parquet", "manifest.json"] == [file.name for file in stored]
    assert {0o444} == {file.stat().st_mode & 0o777 for file in stored}
    assert {1} == {file.stat().st_nlink for file in stored}
    assert paths["answers.parquet"].stat().st_nlink == 1
    assert paths["answers.parquet"].stat().st_mode & 0o777 == 0o644


def test_its_folders_are_as_open_as_the_root(store: ObjectStore, tmp_path: Path) -> None:
    """A group shares a store by the permissions of its root, whatever each member's umask."""
    store.root.mkdir()
    store.root.chmod(0o2775)
    before = os.umask(0o077)
    try:
        manifest, paths = made(tmp_path)
        store.put(manifest, paths)
    finally:
        os.umask(before)

    assert {0o2775} == {folder.stat().st_mode & 0o7777 for folder in (store.root / "parse", folder_of(store, manifest))}


def test_what_was_put_is_found_and_copied(store: ObjectStore, tmp_path: Path) -> None:
    manifest, paths = made(tmp_path)
    assert store.get("parse", manifest.key) is None
    store.put(manifest, paths)
    copy = tmp_path / "study" / "answers" / "smol.parquet"
    store.copy(manifest, {"answers.parquet": copy})

    assert manifest == store.get("parse", manifest.key)
    assert copy.read_bytes() == paths["answers.parquet"].read_bytes()
    assert copy.stat().st_nlink == 1
    assert os.access(copy, os.W_OK)
    assert copy.stat().st_mode & 0o222


def test_putting_it_twice_keeps_the_first(store: ObjectStore, tmp_path: Path) -> None:
    manifest, paths = made(tmp_path)
    store.put(manifest, paths)
    first = (folder_of(store, manifest) / "answers.parquet").stat().st_ino
    store.put(manifest, paths)

    assert first == (folder_of(store, manifest) / "answers.parquet").stat().st_ino
    assert [manifest.key] == [found.key for found in store.objects()]
    assert [] == list((store.root / ".unfinished").iterdir())


def test_who_comes_second_finds_the_object_there(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process renames its object between our look and our rename."""
    manifest, paths = made(tmp_path)
    rename = Path.rename

    def overtaken(self: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "rename", rename)
        store.put(manifest, paths)
        return self.rename(target)

    monkeypatch.setattr(Path, "rename", overtaken)
    store.put(manifest, paths)

    assert manifest == store.get("parse", manifest.key)
    assert [] == list((store.root / ".unfinished").iterdir())


WRITER = """
import sys
sys.path[:0] = sys.argv[3:]
from pathlib import Path
from samequantity.store import objects
from samequantity.store.objects import ObjectStore
from test_objects import made

store = ObjectStore(root=Path(sys.argv[1]))
"""
SEVERAL = """
for number in range(40):
    store.put(*made(Path(sys.argv[2]), str(number)))
"""
STOPPED = """
def copy(source, target):
    target.write_bytes(source.read_bytes()[:100])
    print("writing", flush=True)
    sys.stdin.read()

objects.copy_apart = copy
store.put(*made(Path(sys.argv[2])))
"""


def writer(script: str, store: ObjectStore, folder: Path) -> "subprocess.Popen[bytes]":
    arguments = [str(store.root), str(folder), str(SRC), str(Path(__file__).parent)]
    return subprocess.Popen(
        [sys.executable, "-c", WRITER + script, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def test_two_processes_put_the_same_objects_at_once(store: ObjectStore, tmp_path: Path) -> None:
    writers = [writer(SEVERAL, store, tmp_path / name) for name in "ab"]
    for process in writers:
        process.communicate()

    assert [0, 0] == [process.returncode for process in writers]
    found = list(store.objects())
    assert len(found) == 40
    assert all(store.get(one.stage, one.key) for one in found)
    assert [] == list((store.root / ".unfinished").iterdir())


def test_killed_in_the_middle_it_leaves_no_object(store: ObjectStore, tmp_path: Path) -> None:
    process = writer(STOPPED, store, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == b"writing\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    manifest, paths = made(tmp_path)

    assert [] == list(store.objects())
    assert store.get("parse", manifest.key) is None
    store.put(manifest, paths)
    assert manifest == store.get("parse", manifest.key)


def test_on_a_full_disk_it_leaves_nothing_and_names_the_object(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_source: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    manifest, paths = made(tmp_path)
    monkeypatch.setattr(objects, "copy_apart", full)
    with pytest.raises(OSError, match="No space left") as found:
        store.put(manifest, paths)

    assert str(folder_of(store, manifest)) == found.value.filename
    assert [] == [path for path in store.root.rglob("*") if path.is_file()]


def test_what_a_killed_writer_left_is_removed_a_day_later(store: ObjectStore) -> None:
    """Not at once: it may be another process's that is just being written."""
    fresh, old = store.root / ".unfinished" / "fresh", store.root / ".unfinished" / "old"
    for folder in (fresh, old):
        folder.mkdir(parents=True)
        (folder / "answers.parquet").write_bytes(b"half")
        (folder / "answers.parquet").chmod(0o444)
    os.utime(old, (0, 0))
    store.remove_unfinished()

    assert [fresh] == list((store.root / ".unfinished").iterdir())


@pytest.mark.parametrize("name", ["answers.parquet", "manifest.json"])
@pytest.mark.parametrize("damage", ["flipped", "cut", "gone"])
def test_a_damaged_object_is_named_with_its_cure(name: str, damage: str, store: ObjectStore, tmp_path: Path) -> None:
    manifest, paths = made(tmp_path)
    store.put(manifest, paths)
    file = folder_of(store, manifest) / name
    content = file.read_bytes()
    file.chmod(0o644)
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(content[:90] + (bytes([content[90] ^ 1]) + content[91:] if damage == "flipped" else b""))
    wanted = f"store remove parse/{manifest.key[:12]} --store {store.root}"
    with pytest.raises(IntegrityError) as found:
        store.get("parse", manifest.key)

    assert str(file) in str(found.value)
    assert wanted in str(found.value)
    store.remove(next(store.objects()))
    assert store.get("parse", manifest.key) is None


def test_a_byte_flipped_in_a_result_does_not_reach_the_store(store: ObjectStore, tmp_path: Path) -> None:
    manifest, paths = made(tmp_path)
    store.put(manifest, paths)
    copy = tmp_path / "copy.parquet"
    store.copy(manifest, {"answers.parquet": copy})
    for path in (copy, paths["answers.parquet"]):
        with path.open("r+b") as stream:
            stream.write(b"X")

    assert manifest == store.get("parse", manifest.key)


def test_stores_are_apart(store: ObjectStore, tmp_path: Path) -> None:
    manifest, paths = made(tmp_path)
    other = ObjectStore(root=tmp_path / "another" / "place")
    store.put(manifest, paths)
    assert other.get("parse", manifest.key) is None
    other.put(manifest, paths)
    shutil.rmtree(store.root)

    assert manifest == other.get("parse", manifest.key)


def test_objects_are_listed_by_stage_and_key(store: ObjectStore, tmp_path: Path) -> None:
    assert [] == list(store.objects())
    manifests = []
    for name in "abc":
        manifest, paths = made(tmp_path, name)
        store.put(manifest, paths)
        manifests.append(manifest)
    found = list(store.objects())

    assert sorted(manifest.key for manifest in manifests) == [one.key for one in found]
    assert {"parse"} == {one.stage for one in found}
    assert all(one.bytes > 4000 for one in found)


# The files that both results and objects are made of.


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"before")

    def fail() -> None:
        with appearing(path) as temporary:
            temporary.write_bytes(b"half")
            assert path.read_bytes() == b"before"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [path] == list(tmp_path.iterdir())
    assert path.read_bytes() == b"before"
    write_whole(path, b"after")
    assert path.read_bytes() == b"after"


def test_a_copy_shares_nothing_with_or_without_reflinks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"abc")
    for reflinks in (True, False):
        if not reflinks:
            monkeypatch.setattr(files, "_reflink", lambda *_: False)
        target.write_bytes(b"longer than the source")
        copy_apart(source, target)
        assert target.read_bytes() == b"abc"
        target.write_bytes(b"xyz")
        assert source.read_bytes() == b"abc"
