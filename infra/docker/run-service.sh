#!/bin/sh
# Runs one service, all of them, or a job of the image, as the process that receives the container's signals.
set -eu
name="${1:-}"
[ $# -eq 0 ] || shift

case "$name" in
  all) script="infra/embedded/start.ts" ;;
  first-key | first-link) script="services/account/src/$name-cli.ts" ;;
  signalbox) script="libs/client/src/command/signalbox-cli.ts" ;;
  make-secrets) script="infra/docker/make-secrets.mjs" ;;
  migrate) script="infra/docker/migrate.ts" ;;
  backup) script="infra/backup/backup.ts" ;;
  edge-exporter) script="infra/edge/exporter/main.ts" ;;
  topics | groups | dead-letters | dead-events | parked) script="infra/kafka/$name.ts" ;;
  *) script="services/$name/src/main.ts" ;;
esac
if [ -z "$name" ] || [ ! -f "$script" ]; then
  jobs="signalbox|first-key|first-link|make-secrets|migrate|backup|edge-exporter|topics|groups|dead-letters|dead-events|parked"
  echo "usage: docker run signalbox <$(ls services | tr '\n' '|')all|$jobs> [arguments]" >&2
  exit 2
fi
# Node's threads share two arenas, and memory of the start is returned: 10 MiB of the 142 that an idle service holds.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}" MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
# A small space for young objects: our processes keep few, and a large one would only be filled before it is collected.
semi_space_mb=4
heap_growing=""
# The gateway's work in progress is larger and would all grow old; old objects are scanned when they have doubled, and
# not at every twentieth answer.
if [ "$name" = gateway ]; then
  semi_space_mb=8
  heap_growing="--heap-growing-percent=100"
fi
exec node --max-semi-space-size="${SEMI_SPACE_MB:-$semi_space_mb}" ${heap_growing:+"$heap_growing"} "$script" "$@"
