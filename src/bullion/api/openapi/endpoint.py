"""A call of the trading API, as it is described in each environment that has it."""

from collections.abc import Callable
from dataclasses import dataclass

from bullion.environment import Environment
from bullion.keys.key import Scope
from bullion.refusals.refusal import Env, Refusal

from .pieces import Json
from .refused import WITH_KEY, refused_answers
from .security import SCHEME


@dataclass(frozen=True, slots=True)
class Endpoint:
    name: str
    method: str
    path: str
    scope: Scope
    describe: Callable[[Environment], Json]
    refusals: tuple[Refusal, ...] = WITH_KEY

    def operation(self, environment: Environment) -> Json:
        operation = self.describe(environment)
        met = [row for row in self.refusals if row.env is Env.BOTH or environment is Environment.PRODUCTION]
        return {
            "operationId": f"{self.name}_{environment.value}",
            "security": [{SCHEME: [self.scope.value]}],
            **operation,
            "responses": operation["responses"] | refused_answers(met),
        }
