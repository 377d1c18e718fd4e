package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/mixpolicy/lab/notebooks/internal/site"
)

// Site makes a site whose cells run in a browser. It writes the site to the folder build/site, and uses the pages in
// build. The parameter folder is the path of the folder with the notebooks; "" means the paper's. If address is
// not empty, Site then serves the site at this address, until ctx is done.
func (l *Lab) Site(ctx context.Context, folder, address string) error {
	folder, err := filepath.Abs(cmp.Or(folder, l.folder))
	if err == nil {
		err = l.workOn(folder)
	}
	if err == nil {
		err = l.makeSite(ctx)
	}
	if err != nil || address == "" {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	l.say("http://%s/", listener.Addr())
	server := &http.Server{Handler: site.Handler(l.build("site"))}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

func (l *Lab) makeSite(ctx context.Context) error {
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := errors.Join(os.MkdirAll(l.path("site"), 0o755), l.fetchScripts(ctx)); err != nil {
		return err
	}
	all := map[string][]site.Cell{}
	for _, file := range named(l.build(), `\.ipynb$`) {
		nb, err := readNotebook(file)
		if err != nil {
			return err
		}
		for _, c := range nb.code() {
			all[file] = append(all[file], site.Cell{Name: c.ID, Text: string(c.Source)})
		}
	}
	data, readable := filepath.Join(l.root, "data"), `\.csv$`
	if l.own {
		data, readable = l.folder, `\.(csv|npz)$`
	}
	work := "GOWORK=off"
	if l.project != l.root {
		work = "GOWORK=" + filepath.Join(l.temp, "go.work")
		if _, err := printed(l.command(ctx, "env", work, "go", "work", "init", l.root, l.project)); err != nil {
			return err
		}
	}
	lite, err := l.setUpLite(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		l.say("the site has no JupyterLite: %v", err)
	}
	err = site.Build(ctx, site.Settings{
		Pages: l.build(), Out: l.build("site"), Work: l.path("site"), NPM: l.path("npm"), Cells: all, Data: named(data, readable),
		Folder: l.folder, Lite: lite, Env: []string{work},
		Command: l.command, Run: printed, Write: writeFile, Say: l.say,
	})
	if err != nil {
		return fmt.Errorf("site: %w", err)
	}
	l.say("%s can be served by any web server", l.build("site"))
	return nil
}
