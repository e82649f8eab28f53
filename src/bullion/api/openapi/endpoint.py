"""A call of the trading API, as it is described in each environment."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.refusals.refusal import Env, RefusalCode

from .pieces import Json
from .refused import WITH_KEY, Further, refused_answers
from .scenario_header import scenario_header
from .security import SCHEME


@dataclass(frozen=True, slots=True)
class Endpoint:
    name: str
    method: str
    path: str
    scope: Scope
    describe: Callable[[Environment], Json]
    refusals: tuple[RefusalCode, ...] = WITH_KEY
    further: Further = field(default_factory=dict)

    def met(self, environment: Environment) -> list[RefusalCode]:
        own = Env.PROD if environment is Environment.PRODUCTION else Env.TEST
        return [row for row in self.refusals if row.env in (Env.BOTH, own)]

    def operation(self, environment: Environment) -> Json:
        operation = self.describe(environment)
        if environment is Environment.TEST:
            parameters = [*operation.get("parameters", ()), scenario_header(self.refusals)]
            operation = operation | {"parameters": parameters}
        return {
            "operationId": f"{self.name}_{environment.value}",
            "security": [{SCHEME: [self.scope.value]}],
            **operation,
            "responses": operation["responses"] | refused_answers(self.met(environment), self.further),
        }
