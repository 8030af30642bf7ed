package redact

// Work returns how many bytes the rules have looked at so far, each as often as one looked.
func (r *Redactor) Work() int64 { return r.rules.work.Load() }
