-- signalbox: expand
ALTER TABLE "oauth_applications" ADD COLUMN "id_token_signed_response_alg" TEXT NOT NULL DEFAULT 'RS256';
