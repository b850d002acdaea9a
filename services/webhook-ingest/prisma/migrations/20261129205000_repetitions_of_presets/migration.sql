-- signalbox: expand
-- Ids of these senders name a subject or a batch; a signed id now decides alone where a source does not say so.
UPDATE "sources" SET "settings" = "settings" || '{"repetitionBy": "id_and_content"}'
WHERE "settings" #>> '{deliveryIdFrom,pointer}'
  IN ('/payload/uri', '/payload/object/uuid', '/data/id', '/0/eventId', '/0/sg_event_id');
-- Notifications of these senders are equal by design.
UPDATE "sources" SET "settings" = "settings" || '{"refuseSameContentSeconds": 0}'
WHERE NOT "settings" ? 'refuseSameContentSeconds'
  AND ("settings" ->> 'signatureHeader' IN ('x-dropbox-signature', 'x-grafana-alerting-signature')
    OR "settings" ->> 'handshake' = 'microsoft-graph');
