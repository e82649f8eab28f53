"""The conformance kit: asks a running service, from outside, whether it keeps the specification.

It knows nothing of how the service is made, so it can be pointed at anybody's.
"""
