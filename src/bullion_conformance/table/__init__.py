"""The whole table of requirements, in the order of the specification; rulings come last."""

from bullion_conformance.requirement import Requirement
from bullion_conformance.table.errors import ERRORS
from bullion_conformance.table.orders import ORDERS
from bullion_conformance.table.overview import OVERVIEW
from bullion_conformance.table.production import PRODUCTION
from bullion_conformance.table.reading import READING
from bullion_conformance.table.resources import RESOURCES
from bullion_conformance.table.rulings import RULINGS

TABLE: dict[str, Requirement] = {
    requirement.id: requirement
    for requirement in (*OVERVIEW, *RESOURCES, *PRODUCTION, *ORDERS, *READING, *ERRORS, *RULINGS)
}
