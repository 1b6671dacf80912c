"""Tables, manifests, fingerprints and the object store."""
