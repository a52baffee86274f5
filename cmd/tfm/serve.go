package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/translator"
	"tfm/internal/format"
	"tfm/serve"
)

func serveCommand(f *cli.Flags) cli.Action {
	var c serving
	o := &c.options
	f.StringVar(&c.address, "addr", "127.0.0.1:5000", "`address` and port to listen on; another one than this machine's own needs -keys or -no-keys")
	f.StringsVar(&o.Glossaries, "glossaries", "glossary `file`, as -glossary of 'tfm translate' reads it, that requests choose by its name; repeat it for more")
	f.StringVar(&o.Memory, "memory", "", "translation memory, a `file` of lines with source, tab, target, or TMX: a text or sentence that it has gets its translation")
	f.BoolVar(&o.Protect, "protect", false, "copy placeholders, tags, URLs, addresses, names of files, versions, hashes, @user, #tag and emoji")
	f.Group("Access")
	f.StringVar(&o.Keys, "keys", "", "`file` of the keys of clients")
	f.BoolVar(&c.noKeys, "no-keys", false, "answer everybody who reaches -addr")
	f.StringVar(&c.newKey, "new-key", "", "print a new key and its line for -keys, with this `name`, and exit")
	f.StringsVar(&o.Hosts, "host", "`name` of this server besides localhost and addresses; repeat it for more")
	f.StringsVar(&o.Origins, "cors", "`origin` of web pages that may send requests, such as https://example.org, or * for all; repeat it for more")
	f.Func("trust-proxy", "`network` of proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8; repeat it for more", c.trustProxy)
	f.StringVar(&o.TLSCert, "tls-cert", "", "PEM `file` of the certificate; with it the server speaks HTTPS only")
	f.StringVar(&o.TLSKey, "tls-key", "", "PEM `file` of the certificate's key")
	f.StringVar(&o.Prefix, "url-prefix", "", "`path` before all others, such as /translate")
	f.Group("Limits")
	o.MaxWait = 8 * time.Second
	f.DurationVar(&o.MaxWait, "max-wait", "refuse requests that would wait longer").Setting()
	f.IntVar(&o.MaxCharacters, "max-characters", 200_000, "limit of the characters of a request, unless its key has another").Range(1, 1<<24).Setting()
	f.IntVar(&o.MaxTexts, "max-texts", 1000, "limit of the texts of a request").Range(1, 1<<16).Setting()
	f.IntVar(&o.MaxConnections, "max-connections", 4096, "limit of the connections; requests in progress are limited to three quarters of it").Range(1, 1<<20).Setting()
	f.IntVar(&c.maxFile, "max-file", 16, "limit of a document in MB").Range(1, math.MaxInt32>>20).Setting()
	f.Group("Machine")
	c.model.Int8Flag(f)
	cli.ThreadsFlag(f, &c.model.Threads)
	for _, name := range []string{"addr", "glossaries", "memory", "keys", "no-keys", "new-key", "host", "int8"} {
		f.Lookup(name).Common()
	}
	return c.run
}

// serving is the command with its flags.
type serving struct {
	options serve.Options
	model   translator.Model
	address string
	noKeys  bool
	newKey  string
	maxFile int
}

func (c *serving) trustProxy(s string) error {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return errors.New("expected a network such as 10.0.0.0/8")
	}
	c.options.TrustProxy = append(c.options.TrustProxy, p)
	return nil
}

// check reports flags that do not go together.
func (c *serving) check(args []string) error {
	o := &c.options
	host, _, err := net.SplitHostPort(c.address)
	return cmp.Or(
		cli.UsageIf(err != nil, "-addr is %q, expected a host and a port, such as 127.0.0.1:5000", c.address),
		cli.UsageIf(len(args) == 0, "found no model: name a model file, or a folder of them"),
		cli.UsageIf(o.Keys != "" && c.noKeys, "either -keys or -no-keys"),
		cli.UsageIf(!isLoopback(host) && o.Keys == "" && !c.noKeys,
			"-addr %s can be reached from other machines: give -keys FILE, with lines that 'tfm serve -new-key NAME' prints, or -no-keys to answer everybody", c.address),
		cli.UsageIf((o.TLSCert == "") != (o.TLSKey == ""), "-tls-cert and -tls-key need each other"),
		cli.UsageIf(o.Prefix != "" && !strings.HasPrefix(o.Prefix, "/"), "-url-prefix is %q, expected a path that begins with /", o.Prefix),
	)
}

// isLoopback reports whether only this machine can reach a host.
func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

func (c *serving) run(ctx context.Context, args []string) error {
	if c.newKey != "" {
		return c.printKey()
	}
	if err := c.check(args); err != nil {
		return err
	}
	c.options.Models = args
	c.options.MaxBody = int64(c.maxFile) << 20
	c.options.Open.Threads, c.options.Open.Int8 = c.model.Threads, c.model.Int8
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	c.options.Log = log
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // most of the heap is the decoder's memory, which has no pointers
	}
	s, err := serve.New(c.options)
	if err != nil {
		return translator.LanguageError(err)
	}
	defer s.Close()
	l, err := net.Listen("tcp", c.address)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go handleSignals(serverSignals(), s, log, stop)
	scheme := "http"
	if c.options.TLSCert != "" {
		scheme = "https"
	}
	const listed = 12
	pairs, more := s.Pairs(), ""
	if n := len(pairs) - listed; n > 0 {
		pairs, more = pairs[:listed], fmt.Sprintf(" and %s more", format.Count(n, "pair"))
	}
	fmt.Printf("Translating %s%s on %s://%s%s/\n", strings.Join(pairs, ", "), more, scheme, l.Addr(), strings.TrimSuffix(c.options.Prefix, "/"))
	return s.Serve(ctx, l)
}

// printKey prints a new key.
func (c *serving) printKey() error {
	if strings.ContainsFunc(c.newKey, func(r rune) bool { return r <= ' ' }) {
		return cli.Usagef("-new-key is %q, expected a name without spaces", c.newKey)
	}
	key, line := serve.NewKey(c.newKey)
	_, err := fmt.Printf("key, which is shown only now: %s\nline for -keys:              %s\n", key, line)
	return err
}

// serverSignals returns the channel of the signals that a server handles. Those that the program
// was started to ignore, as SIGHUP is by nohup, stay ignored.
func serverSignals() chan os.Signal {
	signals := make(chan os.Signal, 8)
	for _, x := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(x) {
			signal.Notify(signals, x)
		}
	}
	return signals
}

// handleSignals reads models, keys and glossaries again after SIGHUP, and calls stop after SIGINT
// or SIGTERM. The next of these ends the program.
func handleSignals(signals chan os.Signal, s *serve.Server, log *slog.Logger, stop func()) {
	for x := range signals {
		if x != syscall.SIGHUP {
			signal.Stop(signals)
			stop()
			return
		}
		if err := s.Reload(); err != nil {
			log.Error("reload failed, models and keys stay as they were", "error", err.Error())
		} else {
			log.Info("reloaded")
		}
	}
}
