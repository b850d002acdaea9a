"""A check for GraphQL: whatever is sent, an answer has errors of declared codes alone, and never a fault of ours."""

import os

import schemathesis
from hypothesis import strategies
from schemathesis.graphql import nodes

declared = set(os.environ["GRAPHQL_CODES"].split(","))

schemathesis.graphql.scalar("JSON", strategies.text(max_size=20).map(nodes.String))


@schemathesis.check
def only_declared_codes(ctx, response, case):
    errors = response.json().get("errors", [])
    codes = [error.get("extensions", {}).get("code") for error in errors]
    unknown = [code for code in codes if code not in declared]
    assert not unknown, f"{response.status_code} with the codes {unknown}: {errors}"
