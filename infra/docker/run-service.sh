#!/bin/sh
# Runs one service, all of them, or a job of the image, as the process that receives the container's signals.
set -eu
name="${1:-}"
[ $# -eq 0 ] || shift

case "$name" in
  all) script="infra/embedded/start.ts" ;;
  first-key) script="services/account/src/first-key-cli.ts" ;;
  migrate) script="infra/docker/migrate.ts" ;;
  backup) script="infra/backup/backup.ts" ;;
  topics | groups | dead-letters | dead-events) script="infra/kafka/$name.ts" ;;
  *) script="services/$name/src/main.ts" ;;
esac
if [ -z "$name" ] || [ ! -f "$script" ]; then
  jobs="first-key|migrate|backup|topics|groups|dead-letters|dead-events"
  echo "usage: docker run signalbox <$(ls services | tr '\n' '|')all|$jobs> [arguments]" >&2
  exit 2
fi
# Node's threads share two arenas, and what a start needed goes back: 10 MiB of the 142 that a service holds at rest.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}" MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
# Young objects in a small space: our processes hold little, and a large one would only be filled before it is cleaned.
semi_space_mb=4
heap_growing=""
# What the gateway has in the making is larger and would all grow old; old objects are looked through when they have doubled, and
# not at every twentieth answer.
if [ "$name" = gateway ]; then
  semi_space_mb=8
  heap_growing="--heap-growing-percent=100"
fi
exec node --max-semi-space-size="${SEMI_SPACE_MB:-$semi_space_mb}" ${heap_growing:+"$heap_growing"} "$script" "$@"
