package mcp

import (
	"fmt"
	"strings"
)

// kind is what a property of a tool's arguments holds.
type kind int

const (
	text kind = iota
	list
	number
	flag
)

// property is an argument of a tool. One that is no word is a flag of the command, by its name with dashes.
type property struct {
	name, says string
	kind       kind
	required   bool
	// word: it stands behind the command and has no flag.
	word bool
}

// tool is one that runs a command of the command line.
type tool struct {
	name, says string
	// command is what is run, and properties what it takes.
	command    []string
	properties []property
	// builds: it prints an unsigned transaction, of whom from states.
	builds bool
	// json: its result is JSON, by --output.
	json bool
}

var (
	from   = property{name: "from", says: "address that owns the timer and will sign", required: true}
	timer  = property{name: "timer", says: "its name, or the beginning of its id", required: true, word: true}
	owned  = property{name: "timer", says: "ADDRESS/NAME or ADDRESS/ID-PREFIX", required: true, word: true}
	actor  = property{name: "actor", says: "address of the owner", required: true, word: true}
	zone   = property{name: "zone", says: "time zone of dates and rules, as Europe/Berlin"}
	forced = property{name: "force", says: "build it although it would fail now", kind: flag}
	does   = property{name: "does", says: "send ADDRESS 5utmr | delegate VALIDATOR 5utmr | withdraw-rewards VALIDATOR | exec CONTRACT JSON, as a list of words", kind: list}

	// due are when a timer is due, how it repeats and bears bad moments, and what it pays.
	due = []property{
		does,
		{name: "at", says: "when: '2030-01-31 09:00' (zone), or a height"},
		{name: "after", says: "or a time from now, as 10m or 2d"},
		{name: "every", says: "repeats: month@1 09:00, month@last 18:00, weekday@09:00, mon,thu@09:00, day@09:00, cron of five fields, a time as 1h, or blocks as 20"},
		{name: "count", says: "how many fires", kind: number},
		{name: "first", says: "first height, with every in blocks"},
		{name: "watch", says: "or when state changes: bank:balance:ADDRESS:utmr", kind: list},
		{name: "when", says: "condition for each watch: < 100, exists, ...", kind: list},
		{name: "cooldown", says: "blocks or a time between fires of a watch"},
		{name: "level", says: "again after each cooldown while the condition holds", kind: flag},
		{name: "only_if", says: "conditions at the fire: bank:balance:ADDRESS:utmr < 100", kind: list},
		{name: "missed", says: "latest or each of those the chain was late for"},
		{name: "window", says: "how late it may fire"},
		{name: "jitter", says: "up to how much later, at random"},
		{name: "renew", says: "each fire gives it its whole life again", kind: flag},
		{name: "on_failure", says: "roll, stop or suspend"},
		{name: "retries", says: "how often a failed fire is repeated", kind: number},
		{name: "retry_after", says: "after what time, or blocks"},
		{name: "on_unfunded", says: "without funds: destroy, suspend or skip"},
		{name: "gas_limit", says: "cycles of a fire, or auto"},
		{name: "max_charge", says: "most that a fire may cost, or none"},
		{name: "tier", says: "economy, standard, fast or urgent"},
		{name: "max_fee", says: "highest price of a cycle, with max_priority"},
		{name: "max_priority", says: "highest tip of a cycle"},
		zone, forced,
	}

	// tools are all, in the order in which they are listed.
	tools = []tool{
		{name: "list_timers", says: "An owner's live timers.", command: words("query timers list"), properties: []property{actor}, json: true},
		{name: "describe_timer", says: "All of one timer: what it does, when, costs, until when funds last, and why it waits.", command: words("query timers describe"), properties: []property{owned, zone}, json: true},
		{name: "why_not", says: "Why a timer has not fired: what it waits for.", command: words("query timers describe"), properties: []property{owned}, json: true},
		{name: "occurrences", says: "When a timer is due next.", command: words("query timers occurrences"), properties: []property{
			owned, {name: "count", says: "how many, at most 100", kind: number}, zone,
		}, json: true},
		{name: "estimate", says: "What a fire costs now, and how long it would wait.", command: words("query timers estimate"), properties: []property{
			{name: "gas_limit", says: "cycles"}, {name: "tier", says: "economy, standard, fast or urgent"},
		}, json: true},
		{name: "history", says: "What became of an owner's timers, or of one.", command: words("query timers history"), properties: []property{
			{name: "timer", says: "ADDRESS, or ADDRESS/ID-PREFIX", required: true, word: true},
		}, json: true},
		{name: "proof", says: "A proof that a timer was delivered at a height, for an outside verifier.", command: words("query timers proof"), properties: []property{
			owned, {name: "height", says: "the height of its fire", required: true},
		}},
		{name: "schedule_timer", says: "Build the unsigned transaction that schedules a timer.", command: words("tx timers schedule"), properties: append([]property{
			from, {name: "name", says: "what its owner calls it"},
			{name: "expires_at", says: "last date (zone) or height at which it may fire"}, {name: "for", says: "or how long it lives, as 1y"},
			{name: "fee_payer", says: "who pays the fires, by a fee allowance"},
		}, due...), builds: true},
		{name: "update_timer", says: "Build the unsigned transaction that changes what is stated here of a timer, and nothing else.", command: words("tx timers update"), properties: append([]property{
			from, timer, {name: "name", says: "its new name"},
		}, due...), builds: true},
		{name: "extend_timer", says: "Build the transaction that sets until when a timer may fire.", command: words("tx timers extend"), properties: []property{
			from, timer, {name: "until", says: "a date (zone) or a height"}, {name: "by", says: "or how much longer, as 7d"},
		}, builds: true},
		{name: "cancel_timers", says: "Build the transaction that cancels timers.", command: words("tx timers cancel"), properties: []property{
			from, {name: "timers", says: "names, or beginnings of ids", kind: list, required: true, word: true},
		}, builds: true},
		{name: "pause_timer", says: "Build the transaction that puts a timer on hold.", command: words("tx timers pause"), properties: []property{from, timer}, builds: true},
		{name: "resume_timer", says: "Build the transaction that puts a timer back.", command: words("tx timers resume"), properties: []property{
			from, timer, {name: "next", says: "what came meanwhile passes", kind: flag}, forced,
		}, builds: true},
		{name: "skip_timer", says: "Build the transaction that lets the next occurrences pass.", command: words("tx timers skip"), properties: []property{
			from, timer, {name: "count", says: "how many", kind: number},
		}, builds: true},
		{name: "run_timer", says: "Build the transaction that makes the next occurrence due now.", command: words("tx timers run"), properties: []property{from, timer}, builds: true},
	}
)

func words(text string) []string { return strings.Fields(text) }

// schema is the JSON schema of a tool's arguments.
func (t *tool) schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, p := range t.properties {
		one := map[string]any{"description": p.says}
		switch p.kind {
		case list:
			one["type"], one["items"] = "array", map[string]any{"type": "string"}
		case number:
			one["type"] = "integer"
		case flag:
			one["type"] = "boolean"
		default:
			one["type"] = "string"
		}
		properties[p.name] = one
		if p.required {
			required = append(required, p.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// mistake is what is wrong with an argument.
type mistake struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

func (m mistake) Error() string { return m.Field + ": " + m.Reason }

// line is the command line of arguments. Values stand behind their flag's = and words behind --, so that none is taken for a flag.
func (t *tool) line(arguments map[string]any) (line []string, err error) {
	var flags, rest []string
	known := map[string]bool{}
	for _, p := range t.properties {
		known[p.name] = true
		value, stated := arguments[p.name]
		if !stated {
			if p.required {
				return nil, mistake{p.name, "it is missing: " + p.says}
			}
			continue
		}
		texts, err := p.texts(value)
		if err != nil {
			return nil, err
		}
		switch {
		case p.word || p.name == does.name:
			rest = append(rest, texts...)
		default:
			for _, one := range texts {
				flags = append(flags, "--"+strings.ReplaceAll(p.name, "_", "-")+"="+one)
			}
		}
	}
	for name := range arguments {
		if !known[name] {
			return nil, mistake{name, "the tool has no such argument"}
		}
	}
	if err := needsZone(t, arguments); err != nil {
		return nil, err
	}
	line = append(line, t.command...)
	if t.command[len(t.command)-1] == "schedule" && len(rest) > 0 {
		// What it does is a command of its own.
		line, rest = append(line, rest[0]), rest[1:]
		if strings.HasPrefix(line[len(line)-1], "-") {
			return nil, mistake{does.name, fmt.Sprintf("%q is nothing that a timer can do", line[len(line)-1])}
		}
	}
	return append(append(append(line, flags...), "--"), rest...), nil
}

// wants are what values of the kinds are.
var wants = map[kind]string{text: "text", list: "list of texts", number: "whole number from 0 on", flag: "true or false"}

// texts are a value as flags state it.
func (p *property) texts(value any) ([]string, error) {
	wrong := mistake{p.name, fmt.Sprintf("%.80v is no %s", value, wants[p.kind])}
	switch v := value.(type) {
	case string:
		if p.kind == text {
			return []string{v}, p.check(v)
		}
	case bool:
		if p.kind == flag {
			return []string{fmt.Sprint(v)}, nil
		}
	case float64:
		if p.kind == number && v == float64(int64(v)) && v >= 0 {
			return []string{fmt.Sprint(int64(v))}, nil
		}
	case []any:
		texts := make([]string, len(v))
		for i, one := range v {
			item, is := one.(string)
			if !is || p.kind != list {
				return nil, wrong
			}
			if texts[i] = item; p.check(item) != nil {
				return nil, p.check(item)
			}
		}
		if p.kind == list {
			return texts, nil
		}
	}
	return nil, wrong
}

// maxText bounds a text of an argument.
const maxText = 100_000

func (p *property) check(text string) error {
	switch {
	case len(text) > maxText:
		return mistake{p.name, fmt.Sprintf("it has %d bytes, want at most %d", len(text), maxText)}
	case strings.ContainsRune(text, 0):
		return mistake{p.name, "it has a byte of zero"}
	}
	return nil
}

// needsZone refuses a date or a rule of local time without a zone: the zone of the server is not that of who asks.
func needsZone(t *tool, arguments map[string]any) error {
	if _, stated := arguments[zone.name]; stated {
		return nil
	}
	takes := false
	for _, p := range t.properties {
		takes = takes || p.name == zone.name
	}
	for _, name := range []string{"at", "expires_at", "until", "every"} {
		said, _ := arguments[name].(string)
		if strings.ContainsAny(said, ":@*") && !strings.HasSuffix(said, "Z") && t.builds {
			if !takes {
				return mistake{name, "want a height, or a date with an offset"}
			}
			return mistake{zone.name, fmt.Sprintf("it is missing: %s %q is a time of some place, want its zone, as Europe/Berlin", name, said)}
		}
	}
	return nil
}
