/* changelog is the demo's WebAssembly extension: a tool that adds a line to the
 * CHANGELOG.md of the project, the one folder that it is granted. Frames are
 * lines of JSON, of which it reads three texts and skips the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* utf8 writes a character and returns the place after it. */
static char *utf8(char *out, unsigned c) {
	if (c < 0x80) {
		*out++ = (char)c;
		return out;
	}
	int more = c < 0x800 ? 1 : 2;
	*out++ = (char)((more == 1 ? 0xc0 : 0xe0) | c >> 6 * more);
	while (more--) *out++ = (char)(0x80 | (c >> 6 * more & 0x3f));
	return out;
}

/* text reads a string at *p, which is a quote, into out where that is not NULL;
 * *p is left behind it. What is cut off ends at its zero byte. */
static void text(const char **p, char *out) {
	const char *s = *p + 1;
	while (*s && *s != '"') {
		unsigned c = (unsigned char)*s++;
		if (c != '\\') {
			if (out) *out++ = (char)c; /* UTF-8 as it comes */
			continue;
		}
		switch (c = (unsigned char)*s) {
		case 0: continue;
		case 'n': c = '\n'; break;
		case 't': c = '\t'; break;
		case 'r': case 'b': case 'f': c = ' '; break;
		case 'u': {
			char digits[5] = {0};
			strncpy(digits, s + 1, 4);
			c = (unsigned)strtoul(digits, NULL, 16);
			s += strlen(digits);
			if (c == 0 || (c >= 0xd800 && c < 0xe000)) c = '?';
			break;
		}
		}
		s++;
		if (out) out = utf8(out, c);
	}
	if (out) *out = 0;
	*p = *s ? s + 1 : s;
}

/* find looks for a text in a frame by its key, in objects down to a depth, and
 * decodes it into out, which has room for the frame. It returns 0 where it is
 * not there. */
static int find(const char *frame, const char *key, int depth, char *out) {
	char *name = malloc(strlen(frame) + 1);
	int at = 0, found = 0;
	for (const char *p = frame; *p && !found;) {
		if (*p != '"') {
			at += *p == '{' || *p == '[';
			at -= *p == '}' || *p == ']';
			p++;
			continue;
		}
		text(&p, name);
		p += strspn(p, " \t");
		if (*p != ':') continue; /* a value, not a key */
		p += 1 + strspn(p + 1, " \t");
		if (*p == '"' && at == depth && strcmp(name, key) == 0) {
			text(&p, out);
			found = 1;
		}
	}
	free(name);
	return found;
}

/* quote writes a text as JSON. */
static void quote(const char *s) {
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\') putchar('\\');
		putchar((unsigned char)*s < ' ' ? ' ' : *s);
	}
	putchar('"');
}

static void answer(const char *id, const char *said, int is_error) {
	printf("{\"type\":\"tool_result\",\"id\":");
	quote(id);
	printf(",\"content\":[{\"type\":\"text\",\"text\":");
	quote(said);
	printf("}]%s}\n", is_error ? ",\"is_error\":true" : "");
}

static char path[4096]; /* of the changelog */

/* place notes where the changelog is: below the project, as a module finds it,
 * which on Windows is "/C:/…". */
static void place(const char *cwd) {
	snprintf(path, sizeof path, "%s%s/CHANGELOG.md", *cwd == '/' ? "" : "/", cwd);
	for (char *p = path; *p; p++) {
		if (*p == '\\') *p = '/';
	}
}

static void add(const char *id, char *entry) {
	for (char *p = entry; *p; p++) {
		if (*p == '\n') *p = ' ';
	}
	FILE *f = fopen(path, "a");
	int failed = !f || fprintf(f, "\n- %s\n", entry) < 0;
	if (f && fclose(f)) failed = 1;
	if (failed) perror(path);
	answer(id, failed ? "CHANGELOG.md cannot be written to" : "added to CHANGELOG.md", failed);
}

/* handle answers a frame; it returns 0 when it was the last. */
static int handle(const char *frame, char *value, char *id) {
	if (!find(frame, "type", 1, value)) return 1;
	if (strcmp(value, "hello_ack") == 0) {
		if (find(frame, "cwd", 1, value)) place(value);
		puts("{\"type\":\"register_tool\",\"name\":\"changelog_add\",\"description\":\"Adds an entry to the project's changelog.\","
		     "\"schema\":{\"type\":\"object\",\"properties\":{\"entry\":{\"type\":\"string\",\"description\":\"what changed, in a sentence\"}},\"required\":[\"entry\"]}}");
		puts("{\"type\":\"ready\"}");
	} else if (strcmp(value, "tool_call") == 0 && find(frame, "id", 1, id)) {
		if (find(frame, "entry", 2, value) && *value) add(id, value);
		else answer(id, "give the entry as a sentence", 1);
	} else if (strcmp(value, "shutdown") == 0) {
		puts("{\"type\":\"shutdown_ack\"}");
		return 0;
	}
	return 1;
}

int main(void) {
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	puts("{\"type\":\"hello\",\"name\":\"changelog\",\"version\":\"1.0.0\"}");
	for (int more = 1; more;) {
		fflush(stdout);
		if ((n = getline(&line, &size, stdin)) <= 0) break;
		char *value = malloc((size_t)n + 1), *id = malloc((size_t)n + 1);
		more = handle(line, value, id);
		free(value);
		free(id);
	}
	fflush(stdout);
	return 0;
}
