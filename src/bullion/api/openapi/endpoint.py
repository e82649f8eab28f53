"""A call of the trading API, as it is described in each environment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from bullion.api.scenario import ANSWER_LOST, HEADER, LENGTH_MAX, PARAMETERS, requestable
from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.refusals.catalogue import CATALOGUE
from bullion.refusals.refusal import Env, RefusalCode

from .refusals import WITH_KEY, Further, refusal_responses
from .schemas import Json, schema_of

SECURITY_SCHEME = "ApiKey"
SCENARIO_HEADER = "x-scenario-header"
"""Beside the parameters of a call, not among them: a program that tries all parameters would be answered by
the faults that it asks for.
"""
_EXTENSION = " An extension: the API's specification does not have it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    name: str
    method: str
    path: str
    scope: Scope
    tag: str
    summary: str
    description: str
    own: Mapping[Environment, str] = field(default_factory=dict)
    """Paragraphs that are true of one environment alone."""
    parameters: Mapping[Environment, Sequence[Json]] = field(default_factory=dict)
    body: Json | None = None
    responses: Mapping[Environment, Json]
    """The successful ones."""
    refusals: tuple[RefusalCode, ...] = WITH_KEY
    further: Further = field(default_factory=dict)
    extension: bool = False

    def operation(self, environment: Environment) -> Json:
        own_env = Env.PROD if environment is Environment.PRODUCTION else Env.TEST
        rows = [row for row in self.refusals if row.env in (Env.BOTH, own_env)]
        parameters = self.parameters.get(environment, ())
        operation = {
            "operationId": f"{self.name}_{environment.value}",
            "security": [{SECURITY_SCHEME: [self.scope.value]}],
            "tags": [self.tag],
            # Programs that import the description list both environments together, by this name.
            "summary": f"{self.summary} ({environment.value})",
            "description": self._description(environment),
            "responses": self.responses[environment] | refusal_responses(rows, self.further),
        }
        if parameters:
            operation["parameters"] = [*parameters]
        if environment is Environment.TEST:
            operation[SCENARIO_HEADER] = _scenario_header(self.refusals)
        if self.body is not None:
            operation["requestBody"] = self.body
        return operation | ({"x-extension": True} if self.extension else {})

    def _description(self, environment: Environment) -> str:
        description = self.description + (_EXTENSION if self.extension else "")
        return "\n\n".join(filter(None, (description, self.own.get(environment))))


def query_parameters(struct: type[msgspec.Struct]) -> list[Json]:
    """Each may be left out. One with an example is also in the example call."""
    return [_query_parameter(name, schema) for name, schema in schema_of(struct)["properties"].items()]


def _query_parameter(name: str, schema: Json) -> Json:
    parameter: Json = {"name": name, "in": "query", "description": schema.pop("description")}
    if "examples" in schema:
        (parameter["example"],) = schema.pop("examples")
    if schema.pop("x-extension", False):
        parameter |= {"description": parameter["description"] + _EXTENSION, "x-extension": True}
    return parameter | {"schema": schema}


def _scenario_header(refusals: Sequence[RefusalCode]) -> Json:
    """The header by which a client of the test environment asks for a made-up response."""
    names = [row.code for row in sorted(requestable(refusals).values(), key=CATALOGUE.index)] + [ANSWER_LOST]
    return {
        "name": HEADER,
        "in": "header",
        "schema": {"type": "string", "maxLength": LENGTH_MAX, "pattern": _scenario_pattern(names)},
        "description": (
            "For accounts whose desk allows it: do nothing, and respond as in this scenario. That is the "
            "`code` of a refusal, production's included, with the body it has there; or "
            f"`{ANSWER_LOST}`, which ends the connection. `x-scenarios` lists the names. After a `;` may "
            "come the parameters of the scenario: `retry_after`, `reason`, `order=booked`, `until`. "
            "An extension: the API's specification does not have it, and production has no such header."
        ),
        "x-extension": True,
        "x-scenarios": names,
    }


def _scenario_pattern(names: Sequence[str]) -> str:
    return f"^({'|'.join(names)})([ \\t]*;[ \\t]*({'|'.join(PARAMETERS)})=[^;]+)*$"
