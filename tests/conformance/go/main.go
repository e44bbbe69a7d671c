// Conformance is a caller of reviser that is none of ours: the webhook client and the mutating admission plugin of
// Kubernetes' API machinery, as Karmada's interpreter and API servers use them, against running servers.
//
// It prints a line for each case, and its exit code is 1 if one of them failed. README.md says what is in which file.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/klog/v2"
)

// Site is what the cases work on.
type Site struct {
	// The program.
	reviser string
	// The folder of the repository, in which samples and captures are.
	repository string
	// A folder for certificates and the like, gone afterwards.
	scratch string
	// The authority and the certificate of the servers.
	certificates Certificates
	// How many requests the load sends.
	requests int
}

func main() {
	site := &Site{}
	flag.StringVar(&site.reviser, "reviser", "", "the program `FILE`")
	flag.StringVar(&site.repository, "repository", "../../..", "the `DIR` of the repository")
	flag.IntVar(&site.requests, "requests", 3000, "how many requests the load sends")
	only := flag.String("only", "", "run only cases with this `TEXT` in their name")
	flag.Parse()
	// Nothing here is to be reached over a proxy, whatever the machine needs for the rest of the world.
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		os.Unsetenv(name)
		os.Unsetenv(strings.ToLower(name))
	}
	os.Exit(site.run(*only))
}

func (s *Site) run(only string) int {
	// What the plugin logs about refusals is looked at in the errors it returns.
	klog.LogToStderr(false)
	klog.SetOutput(discard{})
	if err := s.prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 2
	}
	defer os.RemoveAll(s.scratch)
	table := &Table{only: only}
	s.interpreterCases(table)
	s.goldenCases(table)
	s.refusalCases(table)
	s.connectionCases(table)
	s.worksCases(table)
	s.unboundCases(table)
	s.podCases(table)
	s.loadCases(table)
	return table.end()
}

func (s *Site) prepare() error {
	if s.reviser == "" {
		return fmt.Errorf("-reviser is missing")
	}
	var err error
	if s.reviser, err = filepath.Abs(s.reviser); err != nil {
		return err
	}
	if s.repository, err = filepath.Abs(s.repository); err != nil {
		return err
	}
	if s.scratch, err = os.MkdirTemp("", "reviser-conformance-"); err != nil {
		return err
	}
	s.certificates, err = s.issue("certificates")
	return err
}

// file is the path of a file of the repository.
func (s *Site) file(parts ...string) string {
	return filepath.Join(append([]string{s.repository}, parts...)...)
}

type discard struct{}

func (discard) Write(bytes []byte) (int, error) { return len(bytes), nil }
