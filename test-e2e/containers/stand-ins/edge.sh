#!/bin/sh
# nginx uses the DNS server of this network, instead of Docker's own at 127.0.0.11 in every container.
set -eu
server="$(awk '/^nameserver/ { print $2; exit }' /etc/resolv.conf)"
sed "s/resolver 127\.0\.0\.11 /resolver $server /" /etc/signalbox/nginx.conf > /run/edge/nginx.conf
exec nginx -c /run/edge/nginx.conf
