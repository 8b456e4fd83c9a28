package policies

// ExplainUse is [Bound.Use] together with what each layer says.
func (b *Bound) ExplainUse(c Capability, value string) Decision {
	d := b.Use(c, value)
	for i := range b.layers {
		l := &b.layers[i]
		v, r := l.use(c, value)
		lv := LayerVerdict{Verdict: v, Skipped: l.skipped, By: Origin{Layer: l.layer.layer, File: l.file}}
		switch {
		case l.broken != nil:
			lv.Verdict, lv.By, lv.Reason = Deny, l.brokenPlace, l.broken.Error()
		case r != nil:
			lv.By, lv.Reason = r.at, r.reason
		case v < Allow:
			refused := l.refuse(v, r)
			lv.By, lv.Reason = refused.By, refused.Reason
		default:
			lv.Silent = true
		}
		d.PerLayer = append(d.PerLayer, lv)
	}
	return d
}

// ExplainLoad is [Bound.Load] together with what each layer says.
func (b *Bound) ExplainLoad() Decision {
	d := b.load
	d.PerLayer = nil
	for i := range b.layers {
		l := &b.layers[i]
		v, r, matched := l.load(&b.sub)
		lv := LayerVerdict{Verdict: v, Skipped: l.skipped, By: Origin{Layer: l.layer.layer, File: l.file}}
		switch {
		case l.broken != nil:
			lv.Verdict, lv.By, lv.Reason = Deny, l.brokenPlace, l.broken.Error()
		case matched:
			lv.By, lv.Reason = r.at, r.reason
		case v < Allow:
			lv.By, lv.Reason = l.unlistedAt, "no rule of this layer lists the extension"
		default:
			lv.Silent = true
		}
		d.PerLayer = append(d.PerLayer, lv)
	}
	return d
}

// Rights returns what an authority has granted, and who; layers may still
// narrow it.
func (b *Bound) Rights() (*Grant, Origin) { return b.rights, b.rightsBy }

// Asked returns what the extension asks for.
func (b *Bound) Asked() *Grant { return b.sub.asked }
