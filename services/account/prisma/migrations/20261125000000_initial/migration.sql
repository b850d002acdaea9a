-- signalbox: expand
CREATE TABLE "accounts" (
    "id" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "contact_address" TEXT,
    "contact_address_verified" BOOLEAN NOT NULL DEFAULT false,
    "pending_contact_address" TEXT,
    "locale" TEXT NOT NULL,
    "timezone" TEXT NOT NULL,
    "product_updates" BOOLEAN NOT NULL DEFAULT false,
    "status" TEXT NOT NULL,
    "roles" TEXT[],
    "revision" BIGINT NOT NULL DEFAULT 1,
    "settings_revision" BIGINT NOT NULL DEFAULT 1,
    "access_epoch" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "settings_updated_at" TIMESTAMPTZ(3) NOT NULL,
    "status_changed_at" TIMESTAMPTZ(3),
    "status_actor" TEXT,
    "status_reason" TEXT,
    "recovery_requested_at" TIMESTAMPTZ(3),
    "purge_begun_at" TIMESTAMPTZ(3),
    "purged_at" TIMESTAMPTZ(3),
    "verified_address" TEXT,
    "signed_out_at" TIMESTAMPTZ(3),
    "scopes_max" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "external_id" TEXT,
    "metadata" JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "identities" (
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "identities_pkey" PRIMARY KEY ("issuer","subject")
);

CREATE TABLE "api_keys" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "hint" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "scopes" TEXT[],
    "roles" TEXT[],
    "access_epoch" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "replaces" TEXT,
    "replaced_by" TEXT,
    "end_told_at" TIMESTAMPTZ(3),
    "created_by" TEXT,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "service_clients" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "scopes" TEXT[],
    "digest" BYTEA NOT NULL,
    "previous_digest" BYTEA,
    "previous_until" TIMESTAMPTZ(3),
    "access_epoch" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "end_told_at" TIMESTAMPTZ(3),
    "created_by" TEXT,
    "previous_created_at" TIMESTAMPTZ(3),
    "previous_id" TEXT,
    "secret_created_at" TIMESTAMPTZ(3),
    "secret_id" TEXT,

    CONSTRAINT "service_clients_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "oauth_signing_keys" (
    "kid" TEXT NOT NULL,
    "algorithm" TEXT NOT NULL,
    "public_jwk" JSONB NOT NULL,
    "sealed_private_jwk" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "active_from" TIMESTAMPTZ(3) NOT NULL,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_signing_keys_pkey" PRIMARY KEY ("kid")
);

CREATE TABLE "oauth_state" (
    "model" TEXT NOT NULL,
    "id" BYTEA NOT NULL,
    "sealed" TEXT NOT NULL,
    "grant_id" TEXT,
    "uid" BYTEA,
    "account_id" TEXT,
    "consumed_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_state_pkey" PRIMARY KEY ("model","id")
);

CREATE TABLE "oauth_issued_tokens" (
    "jti" TEXT NOT NULL,
    "grant_id" TEXT,
    "client_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_issued_tokens_pkey" PRIMARY KEY ("jti")
);

CREATE TABLE "access_entries" (
    "subject" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,
    "appended_at" TIMESTAMPTZ(3) NOT NULL,
    "not_before" TIMESTAMPTZ(3),

    CONSTRAINT "access_entries_pkey" PRIMARY KEY ("subject")
);

CREATE TABLE "outgoing_mails" (
    "id" UUID NOT NULL,
    "account_id" TEXT,
    "kind" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "outgoing_mails_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "one_time_codes" (
    "purpose" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "account_id" TEXT,
    "digest" BYTEA NOT NULL,
    "issued" TIMESTAMPTZ(3)[],
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "tries" INTEGER NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "one_time_codes_pkey" PRIMARY KEY ("purpose","subject")
);

CREATE TABLE "contact_links" (
    "id" BIGSERIAL NOT NULL,
    "digest" BYTEA NOT NULL,
    "account_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "contact_links_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "step_ups" (
    "credential_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "step_ups_pkey" PRIMARY KEY ("credential_id")
);

CREATE TABLE "notice_counts" (
    "account_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "notice_counts_pkey" PRIMARY KEY ("account_id","kind")
);

CREATE TABLE "step_up_allowances" (
    "account_id" TEXT NOT NULL,
    "mailed" TIMESTAMPTZ(3)[],
    "tried" TIMESTAMPTZ(3)[],
    "last_used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "step_up_allowances_pkey" PRIMARY KEY ("account_id")
);

CREATE TABLE "sign_in_mails" (
    "id" UUID NOT NULL,
    "address" BYTEA NOT NULL,
    "asker" BYTEA NOT NULL,
    "known_browser" BOOLEAN NOT NULL,
    "sign_in" BYTEA NOT NULL,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,
    "answered_at" TIMESTAMPTZ(3),

    CONSTRAINT "sign_in_mails_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "sign_ins" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "session" BYTEA NOT NULL,
    "browser" TEXT,
    "address" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_ins_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "sign_in_grants" (
    "grant_id" TEXT NOT NULL,
    "sign_in_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_grants_pkey" PRIMARY KEY ("grant_id")
);

CREATE INDEX "accounts_created_at_id_idx" ON "accounts"("created_at" DESC, "id" DESC);
CREATE INDEX "accounts_status_status_changed_at_idx" ON "accounts"("status", "status_changed_at");
CREATE INDEX "identities_account_id_idx" ON "identities"("account_id");
CREATE UNIQUE INDEX "api_keys_digest_key" ON "api_keys"("digest");
CREATE INDEX "api_keys_account_id_created_at_id_idx" ON "api_keys"("account_id", "created_at" DESC, "id" DESC);
CREATE INDEX "api_keys_end_told_at_expires_at_idx" ON "api_keys"("end_told_at", "expires_at");
CREATE INDEX "service_clients_account_id_created_at_id_idx" ON "service_clients"("account_id", "created_at" DESC, "id" DESC);
CREATE INDEX "service_clients_end_told_at_expires_at_idx" ON "service_clients"("end_told_at", "expires_at");
CREATE INDEX "oauth_state_grant_id_idx" ON "oauth_state"("grant_id");
CREATE INDEX "oauth_state_uid_idx" ON "oauth_state"("uid");
CREATE INDEX "oauth_state_account_id_idx" ON "oauth_state"("account_id");
CREATE INDEX "oauth_state_expires_at_idx" ON "oauth_state"("expires_at");
CREATE INDEX "oauth_issued_tokens_grant_id_idx" ON "oauth_issued_tokens"("grant_id");
CREATE INDEX "oauth_issued_tokens_account_id_idx" ON "oauth_issued_tokens"("account_id");
CREATE INDEX "oauth_issued_tokens_expires_at_idx" ON "oauth_issued_tokens"("expires_at");
CREATE INDEX "access_entries_appended_at_idx" ON "access_entries"("appended_at");
CREATE INDEX "outgoing_mails_due_at_idx" ON "outgoing_mails"("due_at");
CREATE INDEX "outgoing_mails_expires_at_idx" ON "outgoing_mails"("expires_at");
CREATE INDEX "outgoing_mails_account_id_idx" ON "outgoing_mails"("account_id");
CREATE INDEX "one_time_codes_expires_at_idx" ON "one_time_codes"("expires_at");
CREATE INDEX "one_time_codes_account_id_idx" ON "one_time_codes"("account_id");
CREATE UNIQUE INDEX "contact_links_digest_key" ON "contact_links"("digest");
CREATE INDEX "contact_links_account_id_idx" ON "contact_links"("account_id");
CREATE INDEX "contact_links_expires_at_idx" ON "contact_links"("expires_at");
CREATE INDEX "step_ups_account_id_idx" ON "step_ups"("account_id");
CREATE INDEX "step_ups_at_idx" ON "step_ups"("at");
CREATE INDEX "notice_counts_since_idx" ON "notice_counts"("since");
CREATE INDEX "step_up_allowances_last_used_at_idx" ON "step_up_allowances"("last_used_at");
CREATE INDEX "sign_in_mails_address_sent_at_idx" ON "sign_in_mails"("address", "sent_at");
CREATE INDEX "sign_in_mails_asker_sent_at_idx" ON "sign_in_mails"("asker", "sent_at");
CREATE INDEX "sign_in_mails_sign_in_idx" ON "sign_in_mails"("sign_in");
CREATE INDEX "sign_in_mails_sent_at_idx" ON "sign_in_mails"("sent_at");
CREATE UNIQUE INDEX "sign_ins_session_key" ON "sign_ins"("session");
CREATE INDEX "sign_ins_account_id_created_at_id_idx" ON "sign_ins"("account_id", "created_at" DESC, "id" DESC);
CREATE INDEX "sign_ins_last_used_at_idx" ON "sign_ins"("last_used_at");
CREATE INDEX "sign_in_grants_sign_in_id_idx" ON "sign_in_grants"("sign_in_id");
CREATE INDEX "sign_in_grants_account_id_idx" ON "sign_in_grants"("account_id");
CREATE INDEX "sign_in_grants_expires_at_idx" ON "sign_in_grants"("expires_at");

CREATE TABLE "invitations" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "address" TEXT,
    "canonical_address" TEXT,
    "role" TEXT NOT NULL,
    "scopes_max" TEXT[],
    "locale" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "mailed" TIMESTAMPTZ(3)[],
    "accepted_at" TIMESTAMPTZ(3),
    "accepted_by" TEXT,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "invitations_digest_key" ON "invitations"("digest");
CREATE INDEX "invitations_created_at_id_idx" ON "invitations"("created_at" DESC, "id" DESC);
CREATE INDEX "invitations_account_id_idx" ON "invitations"("account_id");
CREATE INDEX "invitations_canonical_address_idx" ON "invitations"("canonical_address");
CREATE INDEX "invitations_accepted_by_idx" ON "invitations"("accepted_by");
CREATE INDEX "invitations_expires_at_idx" ON "invitations"("expires_at");

CREATE TABLE "oauth_applications" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "redirect_uris" TEXT[],
    "post_logout_redirect_uris" TEXT[],
    "scopes" TEXT[],
    "logo_url" TEXT,
    "party" TEXT NOT NULL,
    "consent" TEXT NOT NULL,
    "secrets" JSONB NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_applications_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "oauth_applications_created_at_id_idx" ON "oauth_applications"("created_at" DESC, "id" DESC);
CREATE INDEX "oauth_issued_tokens_client_id_idx" ON "oauth_issued_tokens"("client_id");

CREATE TABLE "passkeys" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "credential_id" BYTEA NOT NULL,
    "name" TEXT NOT NULL,
    "public_key" BYTEA NOT NULL,
    "counter" BIGINT NOT NULL,
    "transports" TEXT[],
    "synced" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "passkeys_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "passkeys_credential_id_key" ON "passkeys"("credential_id");
CREATE INDEX "passkeys_account_id_created_at_id_idx" ON "passkeys"("account_id", "created_at" DESC, "id" DESC);
CREATE UNIQUE INDEX "accounts_external_id_key" ON "accounts"("external_id");

CREATE TABLE "first_links" (
    "digest" BYTEA NOT NULL,
    "account_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "first_links_pkey" PRIMARY KEY ("digest")
);
CREATE INDEX "first_links_account_id_idx" ON "first_links"("account_id");
CREATE INDEX "first_links_expires_at_idx" ON "first_links"("expires_at");

ALTER TABLE "identities" ADD CONSTRAINT "identities_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "service_clients" ADD CONSTRAINT "service_clients_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

CREATE INDEX "accounts_canonical_address_idx" ON "accounts"("verified_address");

-- Indexes on expressions and on some of the rows. Prisma's schema cannot declare them, and does not look at them.
CREATE INDEX "accounts_verified_address_idx" ON "accounts"(lower("contact_address")) WHERE "contact_address_verified";
-- A verified address belongs to one living account. The column holds it in the form in which two spellings of one mailbox
-- are equal; the service works it out, and settles at its start what has none yet.
CREATE UNIQUE INDEX "accounts_living_address_key" ON "accounts"("verified_address")
  WHERE "status" <> 'deleted' AND "purged_at" IS NULL;
CREATE INDEX "accounts_unsettled_address_idx" ON "accounts"("created_at")
  WHERE "contact_address_verified" AND "verified_address" IS NULL;
-- Finds the few administrators.
CREATE INDEX "accounts_administrators_idx" ON "accounts"(("status" = 'active')) WHERE 'admin' = ANY("roles");

-- The audit in partitions of one UTC day. Ids are UUIDv7, whose first 48 bits are the milliseconds of `created_at`: a range of
-- ids is a range of time, the primary key stays, and a list by id runs through the days in order. The days live in the schema
-- of what Prisma does not describe; the default one takes what no day is there for, so that no write ever fails. Names are
-- written out, because a role that is named signalbox would look for tables in that schema first.
CREATE SCHEMA IF NOT EXISTS signalbox;

CREATE TABLE public."audit_entries" (
    "id" UUID NOT NULL,
    "account_id" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "outcome" TEXT NOT NULL DEFAULT 'done',
    "fields" TEXT[],
    "reason" TEXT,
    "subject" TEXT,
    "actor_kind" TEXT NOT NULL DEFAULT 'owner',
    "actor_account_id" TEXT,
    "actor_credential" TEXT NOT NULL,
    "actor_address" TEXT,
    "request_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "trace_id" TEXT,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
) PARTITION BY RANGE ("id");
CREATE INDEX "audit_entries_account_id_id_idx" ON public."audit_entries"("account_id", "id" DESC);
-- Filters of the audit. Most entries are changes of accounts by their owners, on the hottest write there is: the indexes
-- leave those out. A credential is used for hours or days, so that few blocks have its entries: a BRIN finds them, and costs
-- a write next to nothing where a B-tree costs as much as half the row.
CREATE INDEX "audit_entries_actor_credential_idx" ON public."audit_entries" USING BRIN ("actor_credential" text_bloom_ops) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX "audit_entries_actor_account_id_id_idx" ON public."audit_entries"("actor_account_id", "id" DESC) WHERE "actor_kind" <> 'owner';
CREATE INDEX "audit_entries_action_id_idx" ON public."audit_entries"("action", "id" DESC) WHERE "action" <> 'account.update';
CREATE INDEX "audit_entries_subject_id_idx" ON public."audit_entries"("subject", "id" DESC) WHERE "subject" IS NOT NULL;
CREATE INDEX "audit_entries_refused_id_idx" ON public."audit_entries"("id" DESC) WHERE "outcome" = 'refused';

CREATE TABLE signalbox.audit_entries_default PARTITION OF public."audit_entries" DEFAULT;

-- Today and the week ahead. A worker makes the days after them.
DO $$
DECLARE
  day timestamp;
  first_id text := '%s-0000-0000-000000000000';
BEGIN
  FOR day IN
    SELECT date_trunc('day', now() AT TIME ZONE 'UTC') + ahead * interval '1 day' FROM generate_series(0, 7) AS ahead
  LOOP
    EXECUTE format(
      'CREATE TABLE signalbox.%I PARTITION OF public."audit_entries" FOR VALUES FROM (%L) TO (%L)',
      'audit_entries_' || to_char(day, 'YYYYMMDD'),
      format(first_id, overlay(lpad(to_hex((extract(epoch FROM day) * 1000)::bigint), 12, '0') placing '-' from 9 for 0)),
      format(first_id, overlay(lpad(to_hex((extract(epoch FROM day + interval '1 day') * 1000)::bigint), 12, '0') placing '-' from 9 for 0))
    );
  END LOOP;
END $$;

CREATE TABLE "portal_sessions" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "access" TEXT NOT NULL,
    "endpoint_ids" JSONB,
    "theme" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "portal_sessions_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "portal_sessions_digest_key" ON "portal_sessions"("digest");

CREATE INDEX "portal_sessions_account_id_created_at_id_idx" ON "portal_sessions"("account_id", "created_at" DESC, "id" DESC);

CREATE INDEX "portal_sessions_expires_at_idx" ON "portal_sessions"("expires_at");

ALTER TABLE "portal_sessions" ADD CONSTRAINT "portal_sessions_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
