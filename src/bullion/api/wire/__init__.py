"""The JSON bodies and queries of the trading API.

Responses are written from these structs, and the OpenAPI schemas, bounds and examples are made from them.
Each field has its description and, where examples are put together from fields, its value in them.
"""
