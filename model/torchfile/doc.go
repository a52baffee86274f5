// Package torchfile reads the tensors of files that PyTorch's torch.save wrote: pytorch_model.bin,
// .pt and .pth.
//
// Such a file is a pickle, a program that builds Python objects, and the elements of tensors beside
// it. Python's reader of pickles calls whatever functions a pickle names. Nothing that a pickle
// names is ever called here: the package knows the operations and the few names that describe
// tensors, and any other name ends reading with an error that has the name.
//
// # Format
//
// A file of PyTorch 1.6 and later is a zip archive with stored entries under one folder:
//
//	NAME/data.pkl    the pickle
//	NAME/byteorder   "little", which is the default
//	NAME/data/KEY    the elements of the storage KEY
//
// Others, such as version, are not read. Checksums of the archive are not compared, because
// PyTorch can be told to omit them. Earlier versions, and _use_new_zipfile_serialization=False,
// wrote the legacy layout, one after another:
//
//	pickle           the magic number 0x1950a86a20f9469cfc6c
//	pickle           the version, 1001
//	pickle           a dict with little_endian
//	pickle           the object
//	pickle           a list of the keys of storages
//	for each key     i64 number of elements, the elements
//
// Numbers are little-endian. Pickles have protocol 2, the default of torch.save. A pickle refers to
// a storage by a tuple ("storage", type, key, location, number of elements), and a tensor is a view
// of one: an offset, sizes and strides in elements. Tensors can share a storage, as tied matrices
// do.
//
// Source: torch/serialization.py and torch/_utils.py of PyTorch 2.15, Lib/pickletools.py of Python.
//
// # Hostile files
//
// [Open] and [Read] are safe on untrusted files. A length is compared with the size of the file
// before its use. The memory of a pickle is bounded by constants: a storage must be within the
// file, storages must not overlap, and the elements of a tensor are read if they are in row-major
// order without gaps. Nothing is decompressed.
//
// # Files
//
//	file.go     File: an open file and its tensors by name
//	archive.go  the two layouts
//	pickle.go   the operations of a pickle
//	names.go    the names that a pickle may use
//	tensor.go   Tensor and its elements as float32
//
// A layout belongs in archive.go, a function or type of Python that describes tensors in names.go.
//
// # Terms
//
//   - storage: elements of one type in the file
//   - dtype: the type of elements, by its name in safetensors: F32, F16, BF16, …
//   - memo: the values that a pickle uses more than once, by number
//
// The package imports only the standard library and model/safetensors.
package torchfile
