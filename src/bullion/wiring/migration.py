"""What `bullion migrate` would do, for `bullion migrate --check`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bullion.settings import Settings
from bullion.store.postgres_migration import LOCK_WAIT_S
from bullion.store.schema import Step, StepRefused, code_level, require_level, steps

from .store import check_secret, open_engine, store_exists


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    engine: str
    level: int
    """Of this code."""
    steps: Sequence[Step]
    store_exists: bool
    """False: the store is created, in one transaction."""
    levels_in_use: set[int]
    """The schema levels of the nodes that serve the store now."""


async def plan_migration(settings: Settings) -> MigrationPlan:
    """Changes nothing. A wrong secret is refused, as when the steps are taken."""
    kind = "sqlite" if settings.sqlite else "postgres"
    level = code_level(kind)
    if not store_exists(settings):
        return MigrationPlan(kind, level, steps(kind), store_exists=False, levels_in_use=set())
    async with open_engine(settings) as engine:
        exists = await engine.has_schema()
        if exists:
            await check_secret(settings, engine)
        missing = await engine.missing_steps()
        return MigrationPlan(kind, level, missing, exists, await engine.levels_in_use())


def describe_migration(plan: MigrationPlan) -> str:
    return "\n".join(_lines(plan))


def _lines(plan: MigrationPlan) -> Iterator[str]:
    if not plan.steps:
        yield f"The schema is up to date for level {plan.level}; there is nothing to do."
        return
    if not plan.store_exists:
        yield f"There is no store yet. It is created with schema level {plan.level}."
        return
    count = len(plan.steps)
    yield f"{count} {'step' if count == 1 else 'steps'} to take, up to schema level {plan.level}:"
    for step in plan.steps:
        locks = _locks(plan.engine, step)
        yield f"  {step.number} {step.name}: {locks} Works with level {step.oldest_level} or later."
    if plan.levels_in_use:
        yield f"Nodes that serve now have schema level {', '.join(map(str, sorted(plan.levels_in_use)))}."
    try:
        require_level(plan.steps, plan.levels_in_use)
    except StepRefused as error:
        yield str(error)


def _locks(engine: str, step: Step) -> str:
    if engine == "sqlite":
        return "orders wait until it is done."
    if not step.in_transaction:
        return "outside a transaction, takes no lock that stops orders."
    return f"waits at most {LOCK_WAIT_S:g} s for a lock, holds it at most {step.lock_s_max} s."
