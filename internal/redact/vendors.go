package redact

import (
	"regexp"
	"strings"

	"github.com/git-rekal/git-rekal/internal/lazy"
)

// format is that of a vendor's tokens, as its documentation or its program says, which gitleaks has no rule for.
type format struct {
	rule   string
	begins string // with one of these they begin
	rest   string // an expression
	source string // where it is said
}

// vendorRules are the formats as rules.
func vendorRules() []rule {
	out := make([]rule, 0, len(vendorFormats)+len(namedFormats))
	for _, f := range vendorFormats {
		out = append(out, rule{
			id: f.rule, begins: withWord, entropy: 3, keywords: strings.Fields(lower(f.begins)),
			regex: lazy.Expr("^((?:" + oneOf(f.begins) + ")" + f.rest + `)(?:[^\w+/=-]|\\[nr]|$)`),
		})
	}
	for _, f := range namedFormats {
		out = append(out, rule{
			id: f.rule, begins: named, entropy: 3, keywords: strings.Fields(lower(f.begins)),
			regex: lazy.Expr("(?i)^(?:" + oneOf(f.begins) + ")" + f.rest),
		})
	}
	return out
}

func oneOf(words string) string { return strings.ReplaceAll(regexp.QuoteMeta(words), " ", "|") }

const (
	base62 = `[A-Za-z0-9]`
	urlB64 = `[A-Za-z0-9_-]`
	uuid   = `[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`
)

// vendorFormats are told by how they begin.
var vendorFormats = []format{ //nolint:gochecknoglobals // read-only
	{"adafruit-io-key", "aio_", base62 + `{28}`, "io.adafruit.com/api/docs"},
	{"adyen-key", "AQE", `[A-Za-z0-9+/]{70,}`, "docs.adyen.com/development-resources/api-credentials"},
	{"anthropic-oauth-token", "sk-ant-o", `[ar]t01-` + urlB64 + `{80,120}`, "code.claude.com/docs/en/authentication"},
	{"anthropic-session-key", "sk-ant-sid0", `[12]-` + urlB64 + `{80,140}`, "code.claude.com/docs/en/authentication"},
	{"apify-token", "apify_api_", base62 + `{36}`, "docs.apify.com/platform/integrations/api"},
	{"backblaze-key", "K00", `[A-Za-z0-9+/]{28}`, "backblaze.com/docs/cloud-storage-application-keys"},
	{"baidu-key", "bce-v3/ALTAK-", base62 + `{16,24}/[0-9a-f]{40}`, "cloud.baidu.com/doc/qianfan-docs"},
	{"bitbucket-app-password", "ATBB", base62 + `{32}`, "support.atlassian.com/bitbucket-cloud/docs/app-passwords"},
	{"bitbucket-access-token", "ATCTT3", `[\w=-]{100,250}`, "support.atlassian.com/bitbucket-cloud/docs/access-tokens"},
	{
		"braintree-token", "access_token$", `(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}`,
		"developer.paypal.com/braintree/docs/guides/extend/oauth/access-tokens",
	},
	{"brave-search-key", "BSA", urlB64 + `{28}`, "api-dashboard.search.brave.com/documentation/guides/authentication"},
	{"browserbase-key", "bb_live_ bb_test_", urlB64 + `{27}`, "docs.browserbase.com/reference/api"},
	{
		"buildkite-token", "bkua_ bkaa_ bkaj_ bkct_ bkat_ bkpt_ bkrt_", urlB64 + `{38,90}`,
		"buildkite.com/docs/platform/security/tokens",
	},
	{"cerebras-key", "csk-", `[a-z0-9]{48}`, "inference-docs.cerebras.ai"},
	{
		"circleci-token", "CCIPAT_ CCIPRJ_", base62 + `{20,24}_[0-9a-f]{40}`,
		"circleci.com/changelog/new-format-for-api-access-tokens",
	},
	{"clickup-token", "pk_", `[0-9]{6,9}_[0-9A-Z]{32}`, "developer.clickup.com/docs/authentication"},
	{
		"cloudflare-token", "cfk_ cfut_ cfat_", urlB64 + `{40,60}`,
		"developers.cloudflare.com/fundamentals/api/get-started/token-formats",
	},
	{
		"confluent-secret", "cflt", `[A-Za-z0-9+/]{60}`,
		"docs.confluent.io/cloud/current/security/authenticate/workload-identities/service-accounts/api-keys",
	},
	{"contentful-token", "CFPAT-", urlB64 + `{43}`, "contentful.com/developers/docs/references/authentication"},
	{"crates-io-token", "cio", base62 + `{32}`, "github.com/rust-lang/crates.io, src/util/token.rs"},
	{"dbt-token", "dbtc_ dbtu_", urlB64 + `{36,60}`, "docs.getdbt.com/docs/dbt-cloud-apis/authentication"},
	{"dependency-track-key", "odt_", base62 + `{32,80}`, "docs.dependencytrack.org/integrations/rest-api"},
	{"digitalocean-spaces-key", "DO00", `[A-Z0-9]{16}`, "docs.digitalocean.com/products/spaces/how-to/manage-access"},
	{"docker-token", "dckr_pat_ dckr_oat_", urlB64 + `{27,40}`, "docs.docker.com/security/access-tokens"},
	{
		"doppler-token", "dp.", `(?:ct|st|sa|said|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?` + base62 + `{40,44}`,
		"docs.doppler.com/reference/auth-token-formats",
	},
	{"dropbox-token", "sl.u.", urlB64 + `{130,}`, "developers.dropbox.com/oauth-guide"},
	{"e2b-key", "e2b_", `[0-9a-f]{40}`, "e2b.dev/docs/api-key"},
	{"elastic-cloud-key", "essu_", `[\w=-]{40,}`, "elastic.co/docs/deploy-manage/api-keys/elastic-cloud-api-keys"},
	{"figma-token", "figd_ figo_ figu_", urlB64 + `{40}`, "developers.figma.com/docs/rest-api/authentication"},
	{"firecrawl-key", "fc-", `[0-9a-f]{32}`, "docs.firecrawl.dev/introduction"},
	{"fireworks-key", "fw_", base62 + `{22,30}`, "docs.fireworks.ai/getting-started/quickstart"},
	{"fleetbase-key", "flb_", `(?:live|test)_` + base62 + `{20}`, "docs.fleetbase.io/api"},
	{"flexport-token", "shltm_", urlB64 + `{40}`, "apidocs.flexport.com"},
	{"flutterwave-live-key", "FLWSECK-", `[0-9a-f]{32}-(?:[0-9a-z]+-)?X`, "developer.flutterwave.com/docs/authentication"},
	{"foursquare-key", "fsq3", `[A-Za-z0-9+/]{44}=`, "docs.foursquare.com/fsq-developers-places/reference/authentication"},
	{"google-oauth-secret", "GOCSPX-", urlB64 + `{28}`, "developers.google.com/identity/protocols/oauth2"},
	{"google-oauth-token", "ya29.", urlB64 + `{40,}`, "developers.google.com/identity/protocols/oauth2"},
	{"groq-key", "gsk_", base62 + `{52}`, "console.groq.com/docs/quickstart"},
	{
		"hubspot-token", "pat-", `(?:na|eu|ap)[0-9]-` + uuid,
		"developers.hubspot.com/docs/apps/legacy-apps/private-apps/overview",
	},
	{
		"infisical-token", "st.", `[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}`,
		"infisical.com/docs/documentation/platform/token",
	},
	{"inngest-key", "signkey-", `(?:prod|test|branch)-[0-9a-f]{32,64}`, "inngest.com/docs/platform/signing-keys"},
	{"ionic-token", "ion_", base62 + `{42}`, "ionic.io/docs/appflow/personal-access-tokens"},
	{"jina-key", "jina_", base62 + `{32}` + urlB64 + `{28}`, "jina.ai/embeddings"},
	{"langfuse-key", "sk-lf-", uuid, "langfuse.com/docs/api-and-data-platform/features/public-api"},
	{
		"langsmith-key", "lsv2_", `(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}`,
		"docs.langchain.com/langsmith/create-account-api-key",
	},
	{"launchdarkly-key", "sdk- api- mob-", uuid, "launchdarkly.com/docs/home/account/api"},
	{"linear-oauth-token", "lin_oauth_", `[0-9a-f]{64}`, "linear.app/developers/oauth-2-0-authentication"},
	{"linear-webhook-secret", "lin_wh_", base62 + `{32,64}`, "linear.app/developers/webhooks"},
	{"mandrill-key", "md-", urlB64 + `{22}`, "mailchimp.com/developer/transactional/docs/fundamentals"},
	{
		"mapbox-secret-token", "sk.", `eyJ` + urlB64 + `{40,200}\.` + urlB64 + `{22}`,
		"docs.mapbox.com/accounts/guides/tokens",
	},
	{"modal-token", "ak- as-", base62 + `{22}`, "modal.com/docs/reference/modal.config"},
	{"mongodb-service-account", "mdb_sa_sk_", urlB64 + `{40}`, "mongodb.com/docs/atlas/configure-api-access"},
	{"neon-key", "napi_", `[a-z0-9]{64}`, "neon.com/docs/manage/api-keys"},
	{
		"netlify-token", "nfp_ nfc_ nfo_ nfu_ nfb_", base62 + `{36}`,
		"docs.netlify.com/api-and-cli-guides/api-guides/get-started-with-api",
	},
	{"new-relic-user-key", "NRAK-", `[A-Z0-9]{27}`, "docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys"},
	{"nightfall-key", "NF-", base62 + `{32}`, "help.nightfall.ai/developer-api"},
	{"nostr-key", "nsec1", `[02-9ac-hj-np-z]{58}`, "github.com/nostr-protocol/nips, 19.md"},
	{"nuget-key", "oy2", `[a-z0-9]{43}`, "learn.microsoft.com/nuget/nuget-org/publish-a-package"},
	{"nvidia-key", "nvapi-", urlB64 + `{60,70}`, "docs.nvidia.com/ngc/latest/ngc-user-guide.html"},
	{"onesignal-key", "os_v2_app_ os_v2_org_", `[a-z0-9]{60,120}`, "documentation.onesignal.com/docs/en/keys-and-ids"},
	{"openrouter-key", "sk-or-v1-", `[0-9a-f]{64}`, "openrouter.ai/docs/guides/features/guardrails/secret-formats"},
	{
		"ory-token", "ory_", `(?:at|rt|ac|pat|st|lo|apikey|wak)_` + urlB64 + `{28,}(?:\.` + urlB64 + `{20,})?`,
		"github.com/ory/hydra/issues/2845",
	},
	{"packagist-token", "packagist_", `(?:ack|oct|oat|utt|upt)_[0-9a-f]{32,80}`, "packagist.com/docs"},
	{
		"paddle-key", "pdl_", `(?:live|sdbx|test)_apikey_[a-z0-9]{26}_` + base62 + `{22}_` + base62 + `{3}`,
		"developer.paddle.com/api-reference/about/authentication",
	},
	{"pagarme-key", "ak_", `(?:live|test)_` + base62 + `{30}`, "docs.pagar.me/reference"},
	{"paypal-token", "A21AA", urlB64 + `{70,}`, "developer.paypal.com/api/rest/authentication"},
	{"paystack-key", "sk_", `(?:live|test)_` + base62 + `{40}`, "paystack.com/docs/api/authentication"},
	{
		"pinecone-key", "pcsk_ pckey_", base62 + `{4,10}_` + base62 + `{50,70}`,
		"docs.pinecone.io/reference/api/2025-04/admin/create_api_key",
	},
	{
		"polar-token", "polar_", `(?:oat|pat|whs|cst|rt|at_[uo]|cs|ci)_` + base62 + `{30,60}`,
		"polar.sh/docs/integrate/authentication",
	},
	{"posthog-key", "phx_", base62 + `{40,50}`, "posthog.com/docs/api"},
	{"razorpay-key", "rzp_live_ rzp_test_", base62 + `{14}`, "razorpay.com/docs/api/authentication"},
	{"render-key", "rnd_", base62 + `{24,40}`, "render.com/docs/api"},
	{"replicate-token", "r8_", urlB64 + `{37}`, "replicate.com/docs/topics/security/api-tokens"},
	{"resend-key", "re_", base62 + `{8}_` + base62 + `{24}`, "resend.com/docs/api-reference/introduction"},
	{"runpod-key", "rpa_", `[A-Z0-9]{36,50}[a-z0-9]{0,10}`, "docs.runpod.io/get-started/api-keys"},
	{"scaleway-key", "SCW", `[A-Z0-9]{17}`, "scaleway.com/en/docs/iam/concepts"},
	{"segment-token", "sgp_", base62 + `{64}`, "segment.com/docs/api/public-api"},
	{
		"shopify-user-token", "shpua_ shptka_", `[0-9a-f]{32}`,
		"shopify.dev/docs/apps/build/authentication-authorization/access-tokens",
	},
	{
		"snyk-token", "snyk_", `[a-z]{3}\.[0-9a-f]{8}\.` + urlB64 + `{20,}(?:\.` + urlB64 + `{20,})?`,
		"docs.snyk.io/snyk-api/authentication-for-api",
	},
	{"sonar-token", "squ_ sqa_ sqp_", `[0-9a-f]{40}`, "docs.sonarsource.com/sonarqube-server/user-guide/managing-tokens"},
	{"sourcegraph-license", "slk_", `[0-9a-f]{64}`, "sourcegraph.com/docs"},
	{"stripe-webhook-secret", "whsec_", `[A-Za-z0-9+/]{32,}={0,2}`, "docs.stripe.com/webhooks"},
	{
		"stytch-secret", "secret-live- secret-test-", urlB64 + `{30,44}=?`,
		"stytch.com/docs/workspace-management/credentials",
	},
	{"supabase-secret-key", "sb_secret_", urlB64 + `{22,45}`, "supabase.com/docs/guides/api/api-keys"},
	{"supabase-token", "sbp_", `(?:oauth_)?[0-9a-f]{40}`, "supabase.com/docs/reference/api/introduction"},
	{
		"tailscale-key", "tskey-", `(?:api|auth|client|scim|webhook)-` + base62 + `{6,24}-` + base62 + `{16,64}`,
		"tailscale.com/docs/reference/key-prefixes",
	},
	{"tavily-key", "tvly-", `(?:dev-|prod-)?` + urlB64 + `{32,60}`, "docs.tavily.com/documentation/quickstart"},
	{"tencent-secret-id", "AKID", base62 + `{32}`, "cloud.tencent.com/document/product/598"},
	{"together-key", "tgp_v1_", urlB64 + `{43}`, "docs.together.ai/docs/quickstart"},
	{"trigger-key", "tr_dev_ tr_prod_ tr_stg_", base62 + `{20,24}`, "trigger.dev/docs/apikeys"},
	{"twelvelabs-key", "tlk_", `[A-Z0-9]{38}`, "docs.twelvelabs.io/docs/get-started/authentication"},
	{"ubidots-token", "BBFF-", base62 + `{30}`, "docs.ubidots.com/reference/authentication"},
	{"val-town-token", "vtwn_", base62 + `{20,50}`, "docs.val.town/api/authentication"},
	{
		"vercel-blob-token", "vercel_blob_rw_", base62 + `{16}_` + base62 + `{30,40}`,
		"vercel.com/docs/vercel-blob/using-blob-sdk",
	},
	{"wakatime-key", "waka_", uuid, "wakatime.com/developers"},
	{"xai-key", "xai-", base62 + `{80}`, "docs.x.ai/docs/tutorial"},
	{"xata-key", "xau_", base62 + `{40,50}`, "xata.io/docs/rest-api/authentication"},
	{"yandex-cloud-key", "AQVN", urlB64 + `{35,38}`, "yandex.cloud/en/docs/iam/concepts/authorization/api-key"},
	{"yandex-oauth-token", "y0_", urlB64 + `{50,70}`, "yandex.com/dev/id/doc/en/concepts/ya-oauth-intro"},
	{"zuplo-key", "zpka_", `[0-9a-f]{32}_[0-9a-f]{8}`, "zuplo.com/docs/articles/api-key-api"},
	{"vk-token", "vk1.a.", urlB64 + `{80,260}`, "dev.vk.com/en/api/access-token/getting-started"},
}

// assigns stands between a name and its value in settings, headers, YAML and JSON.
const assigns = `["'\x60]?[ \t]*(?:=|:|=>|,)[ \t]*["'\x60]?`

// namedFormats are told by their name together with their form.
var namedFormats = []format{ //nolint:gochecknoglobals // read-only
	{
		"algolia-key", "X-Algolia-API-Key", assigns + `([a-z0-9]{32})\b`,
		"algolia.com/doc/rest-api/search/#section/Authentication",
	},
	{
		"azure-devops-token", "azure", `[\w.-]{0,40}` + assigns + `(` + base62 + `{76}AZDO` + base62 + `{4})\b`,
		"learn.microsoft.com/purview/sit-defn-azure-devops-personal-access-token",
	},
	{"circleci-project-token", "Circle-Token", assigns + `([0-9a-f]{40})\b`, "circleci.com/docs/api/index.html"},
	{"datadog-api-key", "DD-API-KEY", assigns + `([0-9a-f]{32})\b`, "docs.datadoghq.com/api/latest/authentication"},
	{
		"datadog-api-key", "DD_API_KEY", assigns + `([0-9a-f]{32})\b`,
		"docs.datadoghq.com/agent/guide/environment-variables",
	},
	{
		"datadog-application-key", "DD-APPLICATION-KEY", assigns + `([0-9a-f]{40})\b`,
		"docs.datadoghq.com/api/latest/authentication",
	},
	{
		"datadog-application-key", "DD_APP", `(?:LICATION)?_KEY` + assigns + `([0-9a-f]{40})\b`,
		"docs.datadoghq.com/account_management/api-app-keys",
	},
	{
		"elastic-api-key", "Authorization", assigns + `ApiKey +([A-Za-z0-9+/_-]{40,}={0,2})`,
		"elastic.co/docs/api/doc/elasticsearch/authentication",
	},
	{
		"kubernetes-client-key", "client-key-data", assigns + `([A-Za-z0-9+/]{40,}={0,2})`,
		"kubernetes.io/docs/reference/config-api/kubeconfig.v1",
	},
	{
		"pagerduty-token", "Authorization", assigns + `Token +token=["']?([\w+-]{20})\b`,
		"developer.pagerduty.com/docs/authentication",
	},
	{
		"postmark-token", "X-Postmark-", `(?:Server|Account)-Token` + assigns + `(` + uuid + `)\b`,
		"postmarkapp.com/developer/api/overview",
	},
	{"shopify-header-token", "X-Shopify-Access-Token", assigns + `([\w-]{32,44})\b`, "shopify.dev/docs/api/admin-rest"},
}
