import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { maskText } from "./secrets.ts";

/** Forms of tokens as the services document them; examples are generated, so that no scanner finds this file. */
const forms: Readonly<Record<string, RegExp>> = {
  "1Password service account": /^ops_eyJ[A-Za-z0-9]{250}$/,
  "Adafruit IO": /^aio_[A-Za-z0-9]{28}$/,
  "Adobe client secret": /^p8e-[a-z0-9]{32}$/,
  "Age secret key": /^AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}$/,
  "Airtable personal": /^pat[A-Za-z0-9]{14}\.[a-f0-9]{64}$/,
  Alibaba: /^LTAI[A-Za-z0-9]{20}$/,
  "Amazon access key": /^(AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}$/,
  Anthropic: /^sk-ant-api03-[\w-]{93}AA$/,
  Artifactory: /^AKCp[A-Za-z0-9]{69}$/,
  "Atlassian API": /^ATATT3[\w-]{186}$/,
  "Bitbucket app password": /^ATBB[A-Za-z0-9]{32}$/,
  Brevo: /^xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}$/,
  Buildkite: /^bkua_[a-z0-9]{40}$/,
  CircleCI: /^CCIPAT_[A-Za-z0-9]{22}_[a-f0-9]{40}$/,
  Clojars: /^CLOJARS_[a-z0-9]{60}$/,
  Contentful: /^CFPAT-[\w-]{43}$/,
  "crates.io": /^cio[A-Za-z0-9]{32}$/,
  Databricks: /^dapi[a-f0-9]{32}$/,
  "Defined Networking": /^dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52}$/,
  Deno: /^ddp_[A-Za-z0-9]{36}$/,
  "DigitalOcean personal": /^dop_v1_[a-f0-9]{64}$/,
  "DigitalOcean OAuth": /^doo_v1_[a-f0-9]{64}$/,
  "Docker Hub": /^dckr_pat_[A-Za-z0-9_-]{27}$/,
  Doppler: /^dp\.pt\.[A-Za-z0-9]{43}$/,
  "Dropbox short-lived": /^sl\.[A-Za-z0-9_-]{135}$/,
  Duffel: /^duffel_(test|live)_[\w-]{43}$/,
  Dynatrace: /^dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}$/,
  EasyPost: /^EZ[AT]K[A-Za-z0-9]{54}$/,
  "Facebook access token": /^EAAC[A-Za-z0-9]{100}$/,
  Figma: /^figd_[\w-]{40}$/,
  Flutterwave: /^FLWSECK_TEST-[a-h0-9]{32}-X$/,
  Fly: /^fo1_[\w-]{43}$/,
  "Frame.io": /^fio-u-[A-Za-z0-9_-]{64}$/,
  "GitHub personal": /^ghp_[A-Za-z0-9]{36}$/,
  "GitHub OAuth": /^gho_[A-Za-z0-9]{36}$/,
  "GitHub app": /^gh[us]_[A-Za-z0-9]{36}$/,
  "GitHub refresh": /^ghr_[A-Za-z0-9]{36}$/,
  "GitHub fine-grained": /^github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}$/,
  "GitLab personal": /^glpat-[\w-]{20}$/,
  "GitLab deploy": /^gldt-[\w-]{20}$/,
  "GitLab runner": /^glrt-[\w-]{20}$/,
  "GitLab trigger": /^glptt-[a-f0-9]{40}$/,
  "Google API key": /^AIza[\w-]{35}$/,
  "Google OAuth secret": /^GOCSPX-[\w-]{28}$/,
  "Google access token": /^ya29\.[\w-]{60}$/,
  "Grafana Cloud": /^glc_[A-Za-z0-9]{80}$/,
  "Grafana service account": /^glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}$/,
  Groq: /^gsk_[A-Za-z0-9]{52}$/,
  Heroku: /^HRKU-AA[\w-]{58}$/,
  "Hugging Face": /^hf_[A-Za-z]{34}$/,
  Infracost: /^ico-[A-Za-z0-9]{32}$/,
  LaunchDarkly: /^sdk-[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[a-f0-9]{4}-[a-f0-9]{12}$/,
  LangSmith: /^lsv2_pt_[a-f0-9]{32}_[a-f0-9]{10}$/,
  Linear: /^lin_api_[A-Za-z0-9]{40}$/,
  Mailgun: /^key-[a-f0-9]{32}$/,
  Mollie: /^(live|test)_[A-Za-z0-9]{30}$/,
  Netlify: /^nfp_[A-Za-z0-9]{36}$/,
  "New Relic": /^NRAK-[A-Z0-9]{27}$/,
  Notion: /^ntn_[0-9]{11}[A-Za-z0-9]{35}$/,
  npm: /^npm_[A-Za-z0-9]{36}$/,
  NuGet: /^oy2[a-z0-9]{43}$/,
  OpenAI: /^sk-proj-[\w-]{74}$/,
  OpenShift: /^sha256~[\w-]{43}$/,
  Perplexity: /^pplx-[A-Za-z0-9]{48}$/,
  Plaid: /^access-sandbox-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}$/,
  PlanetScale: /^pscale_tkn_[\w-]{43}$/,
  Postman: /^PMAK-[a-f0-9]{24}-[a-f0-9]{34}$/,
  Pulumi: /^pul-[a-f0-9]{40}$/,
  PyPI: /^pypi-AgEIcHlwaS5vcmc[\w-]{50}$/,
  Razorpay: /^rzp_live_[A-Za-z0-9]{16}$/,
  Replicate: /^r8_[A-Za-z0-9]{37}$/,
  RubyGems: /^rubygems_[a-f0-9]{48}$/,
  SendGrid: /^SG\.[\w-]{22}\.[\w-]{43}$/,
  Sentry: /^sntryu_[a-f0-9]{64}$/,
  Shippo: /^shippo_(live|test)_[a-f0-9]{40}$/,
  Shopify: /^shp(at|ca|pa|ss)_[a-f0-9]{32}$/,
  "Slack bot": /^xoxb-[0-9]{10}-[0-9]{10}-[A-Za-z0-9]{24}$/,
  "Slack app": /^xapp-1-[A-Z0-9]{11}-[0-9]{13}-[a-f0-9]{64}$/,
  SonarQube: /^sq[aup]_[a-f0-9]{40}$/,
  Square: /^sq0csp-[\w-]{43}$/,
  Stripe: /^[rs]k_(live|test)_[A-Za-z0-9]{24}$/,
  Supabase: /^sbp_[a-f0-9]{40}$/,
  Tailscale: /^tskey-auth-[A-Za-z0-9]{11}CNTRL-[A-Za-z0-9]{32}$/,
  Terraform: /^[A-Za-z0-9]{14}\.atlasv1\.[\w-]{67}$/,
  Twilio: /^SK[a-f0-9]{32}$/,
  Vault: /^hvs\.[\w-]{90}$/,
  Yandex: /^AQVN[\w-]{35}$/,
  xAI: /^xai-[A-Za-z0-9]{80}$/,
};

test("a token of a public form is masked whole, wherever it stands", () => {
  const around = fc.constantFrom(["", ""], ["Use ", " for now"], ["„", "“"], ["https://h.example/?key=", "&a=b"]);
  const missed = Object.entries(forms).filter(([, form]) => {
    const { failed } = fc.check(
      fc.property(fc.stringMatching(form), around, (token, [before, after]) => {
        const shown = maskText(`${before}${token}${after}`);
        return shown.includes("******") && !shown.includes(token.slice(8));
      }),
      { numRuns: 20 },
    );
    return failed;
  });
  assert.deepEqual(
    missed.map(([name]) => name),
    [],
  );
});

test("a sentence about credentials stays as it was written", () => {
  for (const text of [
    "Which token: blue or red",
    "Password: none needed. Secret: ask Ada!",
    "The bearer of news, and the bearer token",
    "Send it as Authorization: Bearer <token>",
    "Passwords: 8 characters. Tokens: 5 a person. Token: 5",
    "Keys begin with sbx_live_ or sbx_test_, secrets with whsec_",
    "Токен: синий или красный",
    "トークン: あお",
    "sdk-documentation-of-version-2026, test_cases_of_the_year_2026, key-value-store-of-the-year-2026",
    "risk-management and sk-documentation",
    "image 2026.11.30-final-version-of-the-day, https://example.com/docs/access-and-credentials-2026",
  ])
    assert.equal(maskText(text), text);
});
