"""Every check; to import this is to have them all in `CHECKS`."""

from bullion_conformance.checks import (
    account as account,
)
from bullion_conformance.checks import (
    allocation as allocation,
)
from bullion_conformance.checks import (
    answers as answers,
)
from bullion_conformance.checks import (
    auth as auth,
)
from bullion_conformance.checks import (
    errors as errors,
)
from bullion_conformance.checks import (
    fields as fields,
)
from bullion_conformance.checks import (
    idempotency as idempotency,
)
from bullion_conformance.checks import (
    limits as limits,
)
from bullion_conformance.checks import (
    lists as lists,
)
from bullion_conformance.checks import (
    market as market,
)
from bullion_conformance.checks import (
    overview as overview,
)
from bullion_conformance.checks import (
    placing as placing,
)
from bullion_conformance.checks import (
    positions as positions,
)
from bullion_conformance.checks import (
    production as production,
)
from bullion_conformance.checks import (
    rulings_of_answers as rulings_of_answers,
)
from bullion_conformance.checks import (
    rulings_of_keys as rulings_of_keys,
)
from bullion_conformance.checks import (
    rulings_of_orders as rulings_of_orders,
)
