"""Commands status, verify and provenance: is it up to date, is it whole, where does it come from."""

from collections.abc import Iterator
from pathlib import Path

import click

from samequantity.errors import IntegrityError, SettingsError
from samequantity.registry import STAGES
from samequantity.store.study import RESERVED, RESULTS, Made, made_files, study_of, vouched

_studies = click.argument("studies", nargs=-1, type=click.Path(path_type=Path, file_okay=False))


@click.command()
@_studies
def status(studies: tuple[Path, ...]) -> None:
    """Compare every manifest of STUDIES (default: all under results/) with today's code.

    Says for each file whether it is up to date, and if not, which module, package or input changed. It does not ask
    Snakemake, so it sees changes that a lost .snakemake folder hides. It hashes no file: see verify.
    """
    from samequantity.store.upkeep import states

    for folder in _folders(studies):
        found = list(states(made_files(folder), STAGES))
        stale = [state for state in found if state.reasons]
        for state in stale:
            click.echo(f"{state.made.path}: {'; '.join(state.reasons)}")
        click.echo(f"{folder}: {len(found) - len(stale)} of {len(found)} files up to date")


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
def verify(paths: tuple[Path, ...]) -> None:
    """Check the bytes and the rows of PATHS (files or folders; default: all studies) against their manifests."""
    from samequantity.store.upkeep import damage, unvouched

    checked, damaged = 0, []
    for path in paths or _folders(()):
        files = list(_files(path))
        damaged += [reason for file in files if (reason := damage(file))]
        strays = list(unvouched(path, files)) if path.is_dir() else []
        damaged += strays
        checked += len(files) + len(strays)
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
        folders = sorted(Path(RESULTS).glob("*/"))
    if absent := [folder for folder in folders if not folder.is_dir()]:
        raise SettingsError(f"{absent[0]}: no such study. Run snakemake first, from the project's root")
    return [folder for folder in folders if folder.name not in RESERVED]


def _files(path: Path) -> Iterator[Made]:
    if path.is_dir():
        yield from made_files(path)
    else:
        made = vouched(path)
        if made is None:
            raise IntegrityError(f"{path}: no manifest beside it, so there is nothing to check it against")
        yield made
