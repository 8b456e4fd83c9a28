package extproto

// MethodFetch is the method of a [Request] that has the host make one HTTP
// request. Its args are [FetchArgs] and its result is a [FetchResult].
const MethodFetch = "http.fetch"

// FetchArgs says what to fetch. At most one of Body and BodyBase64 is set.
type FetchArgs struct {
	URL     string            `json:"url"`
	Method  string            `json:"method,omitempty"` // GET where empty
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	// BodyBase64 is for a body that is not text.
	BodyBase64 string `json:"body_base64,omitempty"`
}

// FetchResult is the answer of the server. A body that is not UTF-8 text comes
// in BodyBase64; of a header that was sent several times the values are joined
// by ", ".
type FetchResult struct {
	Status     int               `json:"status"`
	Headers    map[string]string `json:"headers,omitempty"`
	Body       string            `json:"body,omitempty"`
	BodyBase64 string            `json:"body_base64,omitempty"`
}

// Codes of a [ResponseError].
const (
	CodeDenied        = "denied"
	CodeInvalid       = "invalid"
	CodeUnknownMethod = "unknown_method"
	CodeBusy          = "busy"
	CodeTimeout       = "timeout"
	CodeTooLarge      = "too_large"
	CodeFailed        = "failed"
)
