package translator

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var modelName = regexp.MustCompile(`^[\w-][\w.-]*/[\w-][\w.-]*$`)

// FindDownloaded returns path if it exists or is not the name of a model on the hub. For such a
// name, or that of an OPUS-MT model without its owner, it returns the folder of the downloaded
// files. The error of a model that is not downloaded says how to get it.
func FindDownloaded(path string) (string, error) {
	name := path
	if strings.HasPrefix(name, "opus-mt-") {
		name = "Helsinki-NLP/" + name
	}
	archive := slices.Contains([]string{".argosmodel", ".npz", ".zip"}, strings.ToLower(filepath.Ext(name)))
	if _, err := os.Stat(path); err == nil || archive || !modelName.MatchString(name) {
		return path, nil
	}
	cache := cacheFolder()
	if dir := snapshot(filepath.Join(cache, "models--"+strings.ReplaceAll(name, "/", "--"))); dir != "" {
		return dir, nil
	}
	files := "all files"
	if strings.Contains(name, "/opus-mt-") {
		files = "config.json, generation_config.json, tokenizer_config.json, vocab.json, source.spm, target.spm and one of model.safetensors and pytorch_model.bin"
	}
	return "", fmt.Errorf("%s: found no such file or folder, and not in %s; tfm downloads nothing: 'hf download %s' gets the model, or get %s of https://huggingface.co/%[3]s/tree/main into a folder",
		path, cache, name, files)
}

// cacheFolder returns the folder to which huggingface_hub downloads.
func cacheFolder() string {
	if dir := cmp.Or(os.Getenv("HF_HUB_CACHE"), os.Getenv("HUGGINGFACE_HUB_CACHE")); dir != "" {
		return dir
	}
	home, _ := os.UserHomeDir()
	caches := cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache"))
	return filepath.Join(cmp.Or(os.Getenv("HF_HOME"), filepath.Join(caches, "huggingface")), "hub")
}

// snapshot returns the folder of a model at the commit of main, else at the last commit in order of
// name, else "".
func snapshot(dir string) string {
	commit, _ := os.ReadFile(filepath.Join(dir, "refs", "main"))
	pattern := cmp.Or(strings.TrimSpace(string(commit)), "*")
	entries, _ := os.ReadDir(filepath.Join(dir, "snapshots"))
	for i := len(entries) - 1; i >= 0; i-- {
		if ok, _ := filepath.Match(pattern, entries[i].Name()); ok {
			return filepath.Join(dir, "snapshots", entries[i].Name())
		}
	}
	return ""
}
