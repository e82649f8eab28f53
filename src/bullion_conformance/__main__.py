"""`python -m bullion_conformance`: the kit by itself, beside any service."""

from bullion_conformance.command import conformance

if __name__ == "__main__":
    conformance(prog_name="conformance")
