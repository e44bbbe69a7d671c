// Command quantities records what Kubernetes' own resource.Quantity answers, as JSON on its standard output:
//
//	go run . > ../../quantities.json
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	inf "gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Each number is recorded with each suffix.
var numbers = []string{
	"0", "1", "5", "12", "100", "999", "1000", "1023", "1024", "1025", "2048", "0.1", "0.5", "1.5", ".25", "3.",
	"1.0001", "1.1234567891", "-1", "-0.5", "-1.25", "+7", "00012", "123456789012345678", "9223372036854775807",
}

var suffixes = []string{
	"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e0", "e3", "E3", "e-3", "E+2",
}

// Texts at the edges of the grammar and of the range.
var odd = []string{
	"", " ", " 1", "1 ", "\t1\n", "\u00a01\u2003", ".", "+", "-", "+.", "-.", "m", "Ki", "e5", "e", "E", "1e", "1E+", "1e+", "1e-",
	"1ee5", "1e5e", "1e5.5", "1e 5", "1.2.3", "1..", "..", "--1", "+-1", "1-", "1+", "1+5", "1m5", "1mm", "1mk", "1KiB", "1K",
	"1ki", "1KI", "1i", "1Gi2", "1MB", "1g", "1 Gi", "1,5", "1_000", "0x10", "inf", "NaN", "１", "1µ", "abc", "true", "null",
	"1Ki\x00", "1e9223372036854775808", "1e99999999999999999999", "1e-99999999999999999999", "1e1_0",
	"1e9", "1e18", "1e19", "1e20", "1e26", "1e28", "170141183460469231731687303715", "1e29", "1e30", "1e40", "1e1000",
	"-1e29", "-1e40", "1e-9", "1e-10", "1e-18", "1e-100", "0e1000000", "0e-5", "0e4294967296", "-0", "-0Ki", "0.0",
	"-0.0m", "0.000000000000000000", "000000000000000000000000000000", "8Ei", "16Ei", "-16Ei", "7.9999999999999999999Ei",
	"0.0001Ki", "-0.0001Ki", "0.0009765625Ki", "0.3Gi", "1.1Mi", "1000000000000000000000000Ki", "0.00000000000000000000001E",
	"1.0000000000000000000", "1.0000000000000000001", "-1.0000000000000000001", "0.9999999999999999999", "0.0000000001",
	"-0.0000000001", "1.5n", "0.1n", "-0.1n", "1.0005m", "1500m", "1000000m", "1048576", "1048577", "1536Mi", "-2048", "-2Gi",
	"9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9223372036854775807m", "9223372036854775808m",
	"9223372036854775.807", "9223372036854775.808", "9223372036854775.8071", "1234567890123456789012345678", "8Pi", "16Pi",
	"10P", "1E", "10E", "9E",
}

// Each of these is added to, and compared with, each.
var addends = []string{
	"0", "0Ki", "0e0", "1", "-1", "100m", "1500m", "1Ki", "1.5Gi", "-1Ki", "1e3", "3e-3", "1n", "0.5Ki", "9223372036854775807",
	"8Ei", "123456789012345678n",
}

// Each of these is written as whole units and as thousandths, in each format.
var integers = []int64{
	0, 1, -1, 9, 10, 99, 100, 250, 999, 1000, 1001, 1023, 1024, 1025, -1023, -1024, 1500, 2000, 2048, 4096, 10240, 100000,
	128 << 20, 1 << 20, 1<<20 + 1, 1 << 30, 3 << 29, 1 << 40, 1 << 50, 1 << 60, 7 << 60, 1000000, 1500000, 1e9, 1e12, 1e15, 1e18,
	123456789, 9223372036854775807, -9223372036854775807, -9223372036854775808, 9223372036854775000,
}

var formats = []resource.Format{resource.DecimalSI, resource.BinarySI, resource.DecimalExponent}

type parsed struct {
	Text string `json:"text"`
	// Absent if the text is no quantity.
	*meaning
}

type meaning struct {
	Canonical string `json:"canonical"`
	// What its own methods answer, which is not what was meant if that is no int64.
	Value int64 `json:"value"`
	Milli int64 `json:"milli"`
	// What was meant: the exact amount, rounded away from zero.
	ExactValue string `json:"exactValue"`
	ExactMilli string `json:"exactMilli"`
}

type sum struct {
	A   string `json:"a"`
	B   string `json:"b"`
	Sum string `json:"sum"`
	Cmp int    `json:"cmp"`
}

type written struct {
	Integer int64  `json:"integer"`
	Format  string `json:"format"`
	Units   string `json:"units"`
	Millis  string `json:"millis"`
}

// canonical is q.String() without the spelling that q may remember from having been parsed.
func canonical(q resource.Quantity) string {
	q = q.DeepCopy()
	q.Neg()
	q.Neg()
	return q.String()
}

// rounded is q in units of 10^-digits, rounded away from zero.
func rounded(q resource.Quantity, digits inf.Scale) string {
	if q.IsZero() {
		return "0"
	}
	q = q.DeepCopy()
	return new(inf.Dec).Round(q.AsDec(), digits, inf.RoundUp).UnscaledBig().String()
}

func parse(text string) parsed {
	// As its UnmarshalJSON does.
	q, err := resource.ParseQuantity(strings.TrimSpace(text))
	if err != nil {
		return parsed{Text: text}
	}
	return parsed{text, &meaning{canonical(q), q.Value(), q.MilliValue(), rounded(q, 0), rounded(q, 3)}}
}

func add(a, b string) sum {
	left, right := resource.MustParse(a), resource.MustParse(b)
	cmp := left.Cmp(right)
	left, right = resource.MustParse(a), resource.MustParse(b)
	left.Add(right)
	return sum{a, b, left.String(), cmp}
}

func write(integer int64, format resource.Format) written {
	return written{
		integer, string(format),
		resource.NewQuantity(integer, format).String(), resource.NewMilliQuantity(integer, format).String(),
	}
}

// section prints a member whose value is a list, one item a line.
func section[T any](name string, items []T, end string) {
	fmt.Printf("%q: [\n", name)
	for i, item := range items {
		line, err := json.Marshal(item)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		comma := ","
		if i == len(items)-1 {
			comma = ""
		}
		fmt.Printf("%s%s\n", line, comma)
	}
	fmt.Printf("]%s\n", end)
}

func main() {
	var texts []parsed
	for _, number := range numbers {
		for _, suffix := range suffixes {
			texts = append(texts, parse(number+suffix))
		}
	}
	for _, text := range odd {
		texts = append(texts, parse(text))
	}
	var sums []sum
	for _, a := range addends {
		for _, b := range addends {
			sums = append(sums, add(a, b))
		}
	}
	var writtens []written
	for _, integer := range integers {
		for _, format := range formats {
			writtens = append(writtens, write(integer, format))
		}
	}
	fmt.Println("{")
	section("parsed", texts, ",")
	section("sums", sums, ",")
	section("written", writtens, "")
	fmt.Println("}")
}
