#!/bin/sh
# The tasks of an operator, in any container of the image: `signalbox-ops outbox`. They call the API at OPERATIONS_URL, by default
# that of the same container, with the key OPERATIONS_KEY; in the small deployment with its first key when none is given.
set -eu
cd "$(dirname "$(readlink -f "$0")")/../.."
export OPERATIONS_URL="${OPERATIONS_URL:-http://127.0.0.1:8080}"
case "${1:-}" in
  groups | dead-letters | dead-events | parked) exec infra/docker/run-service.sh "$@" ;;
  instances | workers | outbox | backups)
    first_key="${SIGNALBOX_EMBEDDED_DATA_DIRECTORY:-.signalbox}/first-key"
    export SIGNALBOX_URL="$OPERATIONS_URL"
    export SIGNALBOX_API_KEY="${OPERATIONS_KEY:-$(cat "$first_key" 2> /dev/null || true)}"
    exec infra/docker/run-service.sh signalbox api "/api/v1/operations/$1"
    ;;
  *)
    echo "usage: signalbox-ops <instances|workers|groups list|outbox|parked …|dead-letters …|dead-events …|backups>" >&2
    exit 2
    ;;
esac
