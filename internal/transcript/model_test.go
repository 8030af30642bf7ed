package transcript_test

import (
	"testing"

	"github.com/git-rekal/git-rekal/internal/transcript"
)

// lastModels are the models that spoke last in real sessions, as jq and grep find them in the files.
var lastModels = map[string]string{
	"019d6cca-56cc-7850-9ca0-e841d6382a98": "gpt-5.4",
	"019d6e7b-5640-7ca2-8d15-18981d778804": "gpt-5.4",
	"019d7372-a0bb-72c0-847d-5e4439ef5efd": "gpt-5.4",
	"019ed50c-2fb3-7002-a384-360bea6e7f04": "gpt-5.5",
	"019ed836-b1da-78f1-8a0c-e598363d10f4": "gpt-5.4",
	"019eef3d-abd1-72e1-ab99-dcdb259027c5": "gpt-5.5", // behind 6 turns of gpt-5.3-codex-spark
	"019f03e0-321f-7eb2-83cc-b54ecd71be23": "gpt-5.3-codex-spark",

	"10fb4666-56f0-4352-90fc-715caf95b418": "claude-sonnet-4.6",
	"1afc31c8-d97f-4331-bae9-b6417f1b79a9": "gpt-5.3-codex-spark", // where gpt-5 was selected
	"378ab881-f02f-435c-9673-0c8d7c7d6bef": "gpt-5.4",
	"487fbe81-e917-46ad-a7c6-bf31cba53339": "",               // it said nothing
	"70b173ed-7b83-485a-b71a-5adb0591db07": "claude-fable-5", // its subagents: others

	"29eb990e-c773-4302-a4e7-317f0af0001f": "",                 // it got no answer
	"36e8d28f-d561-4a3d-8823-4964a2919723": "gemini-2.5-flash", // behind 12 messages of gemini-2.5-pro
	"914f3c63-152a-4f25-9f4e-367c43140554": "gemini-3-flash-preview",
	"970c70a7-5c8e-4fd8-a146-707379eae099": "gemini-3-flash-preview",
	"d0ed8c54-d24e-4ca5-b7ff-2f2b943c0d2d": "gemini-3-flash-preview",
	"f7633853-6663-4dbb-bbf4-6159afa29df8": "gemini-2.5-flash",
	"fa4593e0-f7e1-4dd1-b656-da95fb4d60fa": "gemini-2.5-flash",

	"ses_20c67c805ffez5760ap0ETph7x": "gemini-3.1-pro-preview",
	"ses_20c685993ffe8NJ44bWWcyosxi": "gemini-3.1-pro-preview",
	"ses_21ffb13eaffea2XGC7DWNVd9Oy": "gpt-5.4",
	"ses_277daa810ffePOBsdfS6gm8uA2": "claude-sonnet-4.6",
	"ses_277ed760bffeXZM4Joly2lQJzU": "claude-sonnet-4.5", // behind 2 messages of gemini-3.1-pro-preview
	"ses_27a3283eeffe2okXvUQaxKJ0Nw": "gpt-5.4",
	"ses_318427c7cffeY7yZDddR3XagZ9": "gpt-5.3-codex",
	"ses_318598817ffeMcHfgi69cd9sMT": "gpt-5.3-codex",
	"ses_31a373d41ffe4HopnI3m4DnAj3": "gpt-5.3-codex",
	"ses_31a4b9127ffeWeR4XnP70FhbEV": "gpt-5.3-codex",
}

// spokeLast holds the model of a real session against the table.
func spokeLast(t *testing.T, id string, doc transcript.Document) {
	t.Helper()
	want, listed := lastModels[id]
	for _, s := range doc.Sessions {
		if s.NativeID == id && (s.Model != want || !listed) {
			t.Errorf("the model of %s is %q, want %q", id, s.Model, want)
		}
	}
}
