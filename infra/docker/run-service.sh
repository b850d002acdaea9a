#!/bin/sh
# Runs one service, or a job of the image, as the process that receives the container's signals.
set -eu
name="${1:-}"
[ $# -eq 0 ] || shift

case "$name" in
  first-key) script="services/account/src/first-key-cli.ts" ;;
  migrate) script="infra/docker/migrate.ts" ;;
  topics) script="infra/kafka/topics.ts" ;;
  groups) script="infra/kafka/groups.ts" ;;
  dead-letters) script="infra/kafka/dead-letters.ts" ;;
  dead-events) script="infra/kafka/dead-events.ts" ;;
  *) script="services/$name/src/main.ts" ;;
esac
if [ -z "$name" ] || [ ! -f "$script" ]; then
  echo "usage: docker run signalbox <$(ls services | tr '\n' '|')first-key|migrate|topics|groups|dead-letters|dead-events> [arguments]" >&2
  exit 2
fi
exec node "$script" "$@"
