package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"
)

// workdir is the working directory of the image, where users mount their files.
const workdir = "/work"

// object is a JSON object.
type object = map[string]any

// image returns a container image with the program alone, and folders for files. It is an OCI
// layout that also has the manifest.json of docker save, so docker, podman and skopeo load it.
func (r *release) image(program file, arch string) ([]byte, error) {
	var files []file
	digests := map[string]string{}
	blob := func(data []byte, mediaType string) object {
		sum := fmt.Sprintf("%x", sha256.Sum256(data))
		path := "blobs/sha256/" + sum
		files = append(files, file{path, 0o644, data})
		digests[mediaType] = path
		return object{"mediaType": mediaType, "digest": "sha256:" + sum, "size": len(data)}
	}
	encode := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err) // objects of strings and numbers
		}
		return data
	}
	layerTar, err := tarArchive([]file{under("usr/bin", []file{program})[0], {"tmp/", 0o1777, nil}, {workdir[1:] + "/", 0o1777, nil}}, "", r.date)
	if err != nil {
		return nil, err
	}
	compressed, err := gzipped(layerTar)
	if err != nil {
		return nil, err
	}
	const (
		oci        = "application/vnd.oci.image."
		layerType  = oci + "layer.v1.tar+gzip"
		configType = oci + "config.v1+json"
		manifest   = oci + "manifest.v1+json"
	)
	layer := blob(compressed, layerType)
	created := r.date.Format(time.RFC3339)
	config := blob(encode(object{
		"architecture": arch,
		"os":           "linux",
		"created":      created,
		"config": object{
			"Entrypoint": []string{"/usr/bin/" + name},
			"Cmd":        []string{"help"},
			"Env":        []string{"PATH=/usr/bin", "HOME=/tmp"},
			"WorkingDir": workdir,
			"Labels": object{
				"org.opencontainers.image.title":    name,
				"org.opencontainers.image.version":  r.version,
				"org.opencontainers.image.revision": r.commit,
				"org.opencontainers.image.licenses": "MIT AND BSD-3-Clause",
			},
		},
		"rootfs":  object{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layerTar))}},
		"history": []object{{"created": created, "created_by": "packaging/release.sh " + r.version}},
	}), configType)
	entry := blob(encode(object{"schemaVersion": 2, "mediaType": manifest, "config": config, "layers": []object{layer}}), manifest)
	entry["platform"] = object{"architecture": arch, "os": "linux"}
	entry["annotations"] = object{"org.opencontainers.image.ref.name": r.version, "io.containerd.image.name": "docker.io/library/" + name + ":" + r.version}
	files = append(files,
		file{"oci-layout", 0o644, encode(object{"imageLayoutVersion": "1.0.0"})},
		file{"index.json", 0o644, encode(object{"schemaVersion": 2, "mediaType": oci + "index.v1+json", "manifests": []object{entry}})},
		file{"manifest.json", 0o644, encode([]object{{"Config": digests[configType], "RepoTags": []string{name + ":" + r.version}, "Layers": []string{digests[layerType]}}})},
	)
	return tarArchive(files, "", r.date)
}
