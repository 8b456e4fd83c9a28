/* wordcount is an extension in plain C: a line of JSON in, a line of JSON out.
 * It reads what it needs by hand and skips the rest, so that it goes on working
 * when frames get new fields. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64

/* Each of these takes a place in a text that ends in 0 and returns the place
 * after what it read, or NULL where that is not JSON. */
static const char *skip_value(const char *p, int depth);

static const char *skip_space(const char *p) {
	while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n') p++;
	return p;
}

static const char *skip_string(const char *p) {
	if (*p++ != '"') return NULL;
	for (; *p != '"'; p++) {
		if (*p == '\\') p++;
		if (*p == 0) return NULL;
	}
	return p + 1;
}

/* skip_items reads the rest of an object or array after its bracket. Of an
 * object, the value under key is left in *found. */
static const char *skip_items(const char *p, char end, const char *key, const char **found, int depth) {
	p = skip_space(p);
	if (*p == end) return p + 1;
	for (;;) {
		const char *name = NULL;
		size_t length = 0;
		p = skip_space(p);
		if (end == '}') {
			name = p + 1;
			if (!(p = skip_string(p))) return NULL;
			length = (size_t)(p - name) - 1;
			p = skip_space(p);
			if (*p++ != ':') return NULL;
			p = skip_space(p);
		}
		if (key && name && length == strlen(key) && memcmp(name, key, length) == 0) *found = p;
		if (!(p = skip_value(p, depth + 1))) return NULL;
		p = skip_space(p);
		if (*p == end) return p + 1;
		if (*p++ != ',') return NULL;
	}
}

static const char *skip_value(const char *p, int depth) {
	if (depth > MAX_DEPTH) return NULL;
	switch (*p) {
	case '"': return skip_string(p);
	case '{': return skip_items(p + 1, '}', NULL, NULL, depth);
	case '[': return skip_items(p + 1, ']', NULL, NULL, depth);
	}
	const char *start = p;
	while (*p && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *p)) p++;
	return p > start ? p : NULL;
}

/* member finds a value in an object, or NULL. */
static const char *member(const char *object, const char *key) {
	const char *found = NULL;
	if (!object || *object != '{' || !skip_items(object + 1, '}', key, &found, 0)) return NULL;
	return found;
}

static int is(const char *value, const char *word) {
	size_t n = strlen(word);
	return value && *value == '"' && strncmp(value + 1, word, n) == 0 && value[n + 1] == '"';
}

static unsigned hex4(const char *p) {
	char digits[5] = {0};
	for (int i = 0; i < 4 && isxdigit((unsigned char)p[i]); i++) digits[i] = p[i];
	return (unsigned)strtoul(digits, NULL, 16);
}

/* next reads one character of a string: its number of bytes in UTF-8, and what
 * it is where that is ASCII, else 'x'. Half of a surrogate pair counts 2. */
static const char *next(const char *p, char *c, size_t *bytes) {
	*bytes = 1;
	if (*p != '\\') {
		*c = *p;
		return p + 1;
	}
	p++;
	switch (*p) {
	case 'n': *c = '\n'; return p + 1;
	case 't': *c = '\t'; return p + 1;
	case 'r': *c = '\r'; return p + 1;
	case 'u': {
		unsigned u = hex4(p + 1);
		*c = u < 0x80 ? (char)u : 'x';
		*bytes = u < 0x80 ? 1 : u < 0x800 || (u >= 0xd800 && u < 0xe000) ? 2 : 3;
		p++;
		for (int i = 0; i < 4 && isxdigit((unsigned char)*p); i++) p++;
		return p;
	}
	default: *c = *p; return p + 1;
	}
}

/* put_value writes a value as it was read; an id goes back just so. */
static void put_value(const char *value) {
	fwrite(value, 1, (size_t)(skip_value(value, 0) - value), stdout);
}

static void answer(const char *id, const char *text, int is_error) {
	printf("{\"type\":\"tool_result\",\"id\":");
	put_value(id);
	printf(",\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]%s}\n", text, is_error ? ",\"is_error\":true" : "");
}

static void count(const char *id, const char *text) {
	size_t lines = 0, words = 0, bytes = 0, n;
	int inside = 0;
	char c, out[128];
	if (!text || *text != '"') {
		answer(id, "give the text as a string, like {\\\"text\\\":\\\"one two\\\"}", 1);
		return;
	}
	for (const char *p = text + 1; *p != '"'; bytes += n) {
		p = next(p, &c, &n);
		int space = c == ' ' || (c >= '\t' && c <= '\r');
		lines += c == '\n';
		words += !space && !inside;
		inside = !space;
	}
	snprintf(out, sizeof out, "%zu lines, %zu words, %zu bytes", lines, words, bytes);
	answer(id, out, 0);
}

/* handle answers one line; it returns 0 when it was the last. */
static int handle(const char *line) {
	const char *frame = skip_space(line);
	const char *type = member(frame, "type");
	if (is(type, "hello_ack")) {
		puts("{\"type\":\"register_tool\",\"name\":\"wordcount\",\"description\":\"Count the lines, words and bytes of a text.\","
		     "\"schema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}}");
		puts("{\"type\":\"ready\"}");
	} else if (is(type, "tool_call")) {
		const char *id = member(frame, "id");
		if (id) count(id, member(member(frame, "args"), "text"));
	} else if (is(type, "shutdown")) {
		puts("{\"type\":\"shutdown_ack\"}");
		return 0;
	}
	return 1;
}

int main(void) {
	char *line = NULL;
	size_t size = 0;
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	puts("{\"type\":\"hello\",\"name\":\"wordcount-c\",\"version\":\"1.0.0\"}");
	do fflush(stdout);
	while (getline(&line, &size, stdin) > 0 && handle(line));
	fflush(stdout);
	free(line);
	return 0;
}
