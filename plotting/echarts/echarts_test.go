package echarts

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestLoaderIsSafeInsideAScriptElement(t *testing.T) {
	for _, bad := range []string{"</", "<!--", "{{"} {
		if strings.Contains(Loader, bad) {
			t.Errorf("Loader contains %q", bad)
		}
	}
	for _, needed := range []string{CDN, Integrity, "static/" + File} {
		if !strings.Contains(Loader, needed) {
			t.Errorf("Loader lacks %q", needed)
		}
	}
}

func TestIntegrityIsASHA384(t *testing.T) {
	digest, found := strings.CutPrefix(Integrity, "sha384-")
	raw, err := base64.StdEncoding.DecodeString(digest)
	if !found || err != nil || len(raw) != 48 {
		t.Errorf("Integrity = %q is not a base64 SHA-384 digest", Integrity)
	}
}
