"""The command line of a later version, whose schema has one more step."""

from bullion.__main__ import main
from bullion.store import schema

released = schema.steps
added = schema.Step(9999, "added", "CREATE TABLE added (one BIGINT NOT NULL);")


if __name__ == "__main__":
    vars(schema)["steps"] = lambda engine: (*released(engine), added)
    main()
