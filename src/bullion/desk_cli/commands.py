"""Commands made from the desk's registry: arguments from a path, options from the fields of a body."""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click

from bullion.desk.bodies import Body, Option
from bullion.desk.body_fields import BodyField, body_fields
from bullion.desk.conversion import Changes, convert, read
from bullion.desk.desk import Desk, OnlyIf
from bullion.desk.registry import Action
from bullion.records.page import Page
from bullion.records.token import Actor
from bullion.refusals.refusal import RefusalError
from bullion.web.response import new_request_id

from .assignments import assigned
from .command_extras import COMMAND_EXTRAS, CommandExtras, describe_order
from .price_preview import print_changed
from .session import Session, confirm
from .tables import print_items, print_list, print_secret

Given = dict[str, Any]
"""What was given on the command line, by the names of the parameters."""


def command_of(action: Action) -> click.Command:
    extras = COMMAND_EXTRAS.get(action.name, CommandExtras())

    def run(**given: Any) -> None:
        session = click.get_current_context().find_object(Session)
        assert session is not None  # noqa: S101 - `bullion desk` makes one before any of its commands
        yes = given.pop("yes", False)
        body = _body_maker(action, extras, given)
        checked = _ask(session, action, extras, given, yes=yes)

        async def work(desk: Desk, actor: Actor) -> Any:
            path = [given[name] for name in action.path_parameters]
            return await action.work(desk, actor, *path, *body(), **_named(action, given), **checked)

        found = session.run(work, trading=action.reads_market)
        (extras.show or _show)(session, action, found)

    name = str(action.command).split(" ")[-1]
    return click.Command(name, callback=run, params=list(_parameters(action, extras)), help=action.help)


# --- Parameters ------------------------------------------------------------------------------------------


def _parameters(action: Action, extras: CommandExtras) -> Iterator[click.Parameter]:
    for name in action.path_parameters:
        yield click.Argument([name])
    if extras.parameter is not None:
        yield extras.parameter
    elif action.changes is not None:
        yield click.Argument(["assignments"], nargs=-1, required=True, metavar="FIELD=VALUE...")
    elif action.body is not None:
        fields = [_parameter(field, option) for _, field, option in _options(action.body)]
        yield from fields or [_file_option(action)]
    for name, option in action.query.items():
        if option.help is not None:
            yield _option(name, option, default=option.default)
    if action.takes("page") or action.takes("limit"):
        yield click.Option(["--limit"], default=50, show_default=True, type=click.IntRange(1, 200))
    if action.takes("page"):
        yield click.Option(["--offset"], default=0, show_default=True, type=click.IntRange(0))
    if action.question or extras.questions:
        yield click.Option(["--yes", "-y"], is_flag=True, help="Do not ask for confirmation.")


def _options(
    shape: type[Body], within: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], BodyField, Option]]:
    """The fields of a body that are options of its command, each with its path."""
    for name, field in body_fields(shape).items():
        if field.option is not None:
            yield (*within, name), field, field.option
        elif field.body is not None:
            yield from _options(field.body, (*within, name))


def _parameter(field: BodyField, option: Option) -> click.Parameter:
    if option.argument:
        return click.Argument([field.name], metavar=option.metavar)
    if bool in field.kinds:
        return _option(field.name, option, is_flag=True)
    return _option(
        field.name,
        option,
        kind=field.items or field.kinds[0],
        required=option.required or (field.required and option.default is None),
        multiple=field.items is not None,
        default=field.default if isinstance(field.default, str | int) else None,
    )


def _option(name: str, option: Option, kind: Any = str, default: Any = None, **more: Any) -> click.Option:
    flag = option.flag or f"--{name.replace('_', '-')}"
    choices = option.choices or (get_args(kind) if get_origin(kind) is Literal else ())
    if choices:
        more["type"] = click.Choice([str(each) for each in choices])
    elif option.bounds:
        more["type"] = click.IntRange(*option.bounds)
    elif kind is int:
        more["type"] = int
    if default is not None:  # To click, a default of None is one, and nothing is required then.
        more |= {"default": default, "show_default": True}
    return click.Option([flag, name], help=option.help, metavar=option.metavar, **more)


def _file_option(action: Action) -> click.Option:
    what = action.name.partition("_")[2]
    text = f"A file with the {what} as JSON, as in the desk's HTTP interface. - is standard input."
    return click.Option(["--file"], required=True, help=text)


# --- What is sent ----------------------------------------------------------------------------------------


def _body_maker(action: Action, extras: CommandExtras, given: Given) -> Callable[[], list[Any]]:
    """Reads what was given. The function that it returns makes the body, which may be refused."""
    if action.changes is not None:
        given["changes"] = assigned(action.changes, given.pop("assignments"))
        shape = action.changes
        return lambda: [Changes(shape, given["changes"])]
    if action.body is None:
        return list
    if "file" in given:
        body = _file_body(given.pop("file"), action.body)
        return lambda: [body]
    sent = extras.body(given) if extras.body else _values(action.body, given)
    return lambda: [convert(sent, action.body)]


def _values(shape: type[Body], given: Mapping[str, Any]) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    for path, field, option in _options(shape):
        value = given[field.name]
        if field.items is not None:
            value = list(value or option.default or ()) or None
        elif bool in field.kinds:
            value = (not field.default) if value else None
        if value is None:
            continue
        place = sent
        for parent in path[:-1]:
            place = place.setdefault(parent, {})
        place[field.name] = None if value == option.none else value
    return sent


def _file_body(file: str, shape: Any) -> Any:
    """A body from a JSON file, or from standard input for `-`."""
    try:
        return read(sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes(), shape)
    except OSError as error:
        raise click.UsageError(f"{file}: {error.strerror}.") from None
    except RefusalError as refused:
        raise click.UsageError(f"{file}: {refused.message}") from None


def _named(action: Action, given: Given) -> dict[str, Any]:
    named: dict[str, Any] = {name: given[name] for name in action.query if given.get(name) is not None}
    if action.takes("filters"):
        named = {"filters": named}
    if action.takes("page"):
        named["page"] = Page(given["limit"], given["offset"])
    elif action.takes("limit"):
        named["limit"] = given["limit"]
    if action.takes("request_id"):
        named["request_id"] = new_request_id().decode("ascii")
    return named


# --- Questions and results -------------------------------------------------------------------------------


def _ask(
    session: Session, action: Action, extras: CommandExtras, given: Given, *, yes: bool
) -> dict[str, OnlyIf]:
    """Gives, as an argument of the action, the check that it finds what the question was about."""
    checked: dict[str, OnlyIf] = {}
    if yes:
        return checked
    if action.question:
        order = ""
        if "{order}" in action.question:
            order, unchanged = describe_order(session, given["order_id"])
            checked = {"only_if": unchanged} if action.takes("only_if") else {}
        confirm(action.question.format(order=order, **given), yes=False)
    if extras.questions:
        for question in extras.questions(session, given):
            confirm(question, yes=False)
    return checked


def _show(session: Session, action: Action, found: Any) -> None:
    as_json = session.as_json
    if action.shown_once:
        print_secret(found, action.shown_once, as_json=as_json)
    elif isinstance(found, tuple):
        print_list(found, action.columns, as_json=as_json)
    elif isinstance(found, list) and not action.takes("limit"):
        print_list((found, len(found)), action.columns, as_json=as_json)
    elif isinstance(found, list):
        print_items(found, action.columns, as_json=as_json)
    elif "items" in found and not as_json:
        print_items(found["items"], action.columns, as_json=False)
    else:
        print_changed(found, action.columns, as_json=as_json)
