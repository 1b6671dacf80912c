"""Commands status, verify and provenance: is it up to date, is it whole, where does it come from."""

from pathlib import Path

import click

from samequantity.errors import IntegrityError, SettingsError
from samequantity.registry import STAGES
from samequantity.store.study import RESERVED, RESULTS, Made, made_by, made_files, manifest_files, study_of, vouched

_studies = click.argument("studies", nargs=-1, type=click.Path(path_type=Path, file_okay=False))


@click.command()
@_studies
def status(studies: tuple[Path, ...]) -> None:
    """Compare every manifest of STUDIES (default: all under results/) with today's code.

    Says for each file whether it is up to date, and if not, which module, package or input changed. It does not ask
    Snakemake, so it sees changes that a lost .snakemake folder hides. It hashes no file: see verify.
    """
    from samequantity.store.upkeep import gone, states, unvouched

    for folder in _folders(studies):
        made = list(made_files(folder))
        found = list(states(made, STAGES))
        stale = [f"{state.made.path}: {'; '.join(state.reasons)}" for state in found if state.reasons]
        lost = [f"{path}: missing with its manifest" for path in gone(folder)] + list(unvouched(folder, made))
        for line in [*stale, *lost]:
            click.echo(line)
        click.echo(f"{folder}: {len(found) - len(stale)} of {len(found) + len(lost)} files up to date")


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
def verify(paths: tuple[Path, ...]) -> None:
    """Check the bytes and the rows of PATHS (files or folders; default: all studies) against their manifests."""
    from samequantity.store.upkeep import damage, unvouched

    checked, damaged = 0, []
    for path in paths or _folders(()):
        files, unreadable = _files(path)
        strays = [reason for reason in unvouched(path, files) if not reason.startswith(tuple(unreadable))]
        damaged += [*(reason for file in files if (reason := damage(file))), *unreadable.values(), *strays]
        if paths and not files and not unreadable and not strays:
            raise IntegrityError(f"{path}: holds no file with a manifest, so there is nothing to check")
        checked += len(files) + len(unreadable) + len(strays)
    if damaged:
        raise IntegrityError("\n".join([*damaged, f"{len(damaged)} of {checked} files are damaged."]))
    click.echo(f"{checked} files are what their manifests say.")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
def provenance(file: Path) -> None:
    """Walk from FILE back to what it was made from: stage, key, settings, code and inputs of every step."""
    from samequantity.store.upkeep import chain

    made = vouched(file)
    if made is None:
        raise IntegrityError(f"{file}: no manifest beside it, so nothing is known of where it comes from")
    study = study_of(file)
    folder = Path(RESULTS) / study if study else file.parent
    click.echo(_step(made, str(file), 0))
    for link in chain(made.manifest, made_files(folder)):
        if link.made is None:
            click.echo(f"{'  ' * link.depth}{link.role}: {link.digest[:12]}… (from outside the study)")
        elif link.known:
            click.echo(f"{'  ' * link.depth}{link.role}: {link.digest[:12]}… ({link.made.path}, see above)")
        else:
            click.echo(_step(link.made, link.role, link.depth))


def _step(made: Made, name: str, depth: int) -> str:
    recipe, indent = made.manifest.recipe, "  " * depth
    settings = ", ".join(f"{key}={_brief(value)}" for key, value in recipe.settings.items()) or "none"
    packages = ", ".join(f"{key} {value}" for key, value in recipe.packages.items()) or "none"
    return (
        f"{indent}{name}: {made.content[:12]}… ({made.path})\n"
        f"{indent}  stage {recipe.stage}, key {made.manifest.key[:12]}…, {len(recipe.sources)} modules\n"
        f"{indent}  settings {settings}; packages {packages}"
    )


def _brief(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_brief(inner)}" for key, inner in value.items()) + "}"
    return str(value)


def _folders(studies: tuple[Path, ...]) -> list[Path]:
    """The studies' folders; a bare name is looked up under results/."""
    if studies:
        folders = [study if study.exists() else Path(RESULTS) / study for study in studies]
    else:
        if not Path(RESULTS).is_dir():
            raise SettingsError(f"{RESULTS}: no such folder. Run it from the project's root, or name a study's folder")
        folders = sorted(Path(RESULTS).glob("*/"))
    if absent := [folder for folder in folders if not folder.is_dir()]:
        raise SettingsError(f"{absent[0]}: no such study. Run snakemake first, from the project's root")
    return [folder for folder in folders if folder.name not in RESERVED]


def _files(path: Path) -> tuple[list[Made], dict[str, str]]:
    """The files at a path that manifests vouch for, and what is wrong with each manifest that cannot be read."""
    if not path.is_dir():
        made = vouched(path)
        if made is None:
            raise IntegrityError(f"{path}: no manifest beside it, so there is nothing to check it against")
        return [made], {}
    files: list[Made] = []
    unreadable = {}
    for found in manifest_files(path):
        try:
            files += made_by(found)
        except IntegrityError as error:
            unreadable[str(found)] = str(error)
    return files, unreadable
