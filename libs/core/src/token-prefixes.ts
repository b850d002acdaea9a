/**
 * Prefixes by which services mark their tokens, as expressions. Their documentation names them so that scanners find a
 * leaked token. What follows has at least 16 characters; behind a short prefix, a look ahead keeps names out.
 */
export const tokenPrefixes: readonly string[] = [
  // Code, packages, builds.
  "gl(?:ptt|dt|rt|cbt|ft|imt|agent|soat|oas|ffct)-|GR1348941|pypi-|rubygems_|CLOJARS_",
  "cio(?=[A-Za-z0-9]{32})|oy2(?=[a-z0-9]{43})|dckr_[op]at_|AKCp|CCIP(?:AT|RJ)_|bkua_|API-(?=[A-Z0-9]{26})|HRKU-",
  "sntry[su]_|PMAK-|figd_|AT(?:ATT|CTT|BB)|NR(?:AK|JS|IQ|RA)-|ico-(?=[A-Za-z0-9]{32})|pul-|lin_(?:api|oauth)_|CFPAT-|duffel_(?:test|live)_",
  "(?:aio|ddp|fw|gsk|hf|napi|nfp|ntn|phx|pnu|r8|rdme|rnd|sbp|secret|sgp|sq[aup]|tfp|vc[pk])_(?=[A-Za-z0-9]{16})",
  // Clouds and machines.
  "A(?:KIA|SIA|BIA|CCA)|A3T[A-Z0-9]|AIza|GOCSPX-|ya29\\.|LTAI|AQVN|t1\\.9eu|do[opr]_v1_|hv[sbr]\\.(?=[\\w-]{20})|[\\w-]{14}\\.atlasv1\\.",
  "dp\\.(?:pt|st|ct|sa|scim|audit)\\.|dt0[a-z]\\d\\d\\.|dapi(?=[a-f0-9]{32})|fm[12]_|fo1_|gl(?:c|sa)_|tskey-|v1\\.0-",
  "pscale_(?:tkn|pw|oauth)_|tk-us-|sha256~|essu_|AGE-SECRET-KEY-1|ops_eyJ|A3-(?=[A-Z0-9]{6}-)|dnkey-",
  // Models.
  "sk-(?:ant|proj|svcacct|or|lf)-|api_org_|xai-(?=[A-Za-z0-9]{16})|pplx-|lsv2_(?:pt|sk)_|pcsk_|nvapi-",
  // Payments, shops, mail, messages.
  "sq0[a-z]{3}-|EAAA|access_token\\$(?:production|sandbox)\\$|rzp_(?:live|test)_",
  "FLW(?:SEC|PUB)K(?:_TEST|_LIVE)?-|(?:live|test)_(?=[A-Za-z0-9]{30})|access-(?:sandbox|development|production)-(?=[a-f0-9]{8}-)",
  "EZ[AT]K|shippo_(?:live|test)_|shp(?:at|ca|pa|ss|ua)_|SG\\.|xkeysib-|xsmtpsib-|key-(?=[a-z0-9]{32})|md-(?=[\\w-]{22})",
  "re_(?=[A-Za-z0-9]{8}_)|xoxe\\.xox[a-z]-|xapp-|SK(?=[a-f0-9]{32})|EAA[A-Z](?=[A-Za-z0-9]{30})|sl\\.(?=[\\w-]{60})",
  "p8e-|fio-u-|s-s4t2ud-|pat[A-Za-z0-9]{14}\\.|(?:sdk|mob|api)-(?=[a-f0-9]{8}-[a-f0-9]{4}-)|sm_aat_|polar_(?:oat|pat)_",
];
