//! Tests of the functions.

use super::{all, none};
use crate::expression::functions::names;

#[test]
fn every_function_and_no_other_is_in_the_documentation() {
    let text = include_str!("../../../docs/expressions.md");
    for name in names() {
        assert!(text.contains(&format!("`{name}`")), "{name} is not documented");
    }
    let table = text.split("| for | functions |").nth(1).unwrap().split("\n\n").next().unwrap();
    let documented: Vec<&str> = table.split('`').skip(1).step_by(2).collect();
    assert!(documented.len() > 40);
    for name in documented {
        assert!(names().any(|known| known == name), "{name} is documented and not there");
    }
}

#[test]
fn strings() {
    all(&[
        ("'tacocat'.charAt(3)", "\"o\""),
        ("'äöü'.charAt(1)", "\"ö\""),
        ("'abc'.charAt(3)", "\"\""),
        ("'hello mellow'.indexOf('ello')", "1"),
        ("'hello mellow'.indexOf('ello', 2)", "7"),
        ("'hello mellow'.indexOf('jello')", "-1"),
        ("'hello mellow'.indexOf('')", "0"),
        ("'hello mellow'.indexOf('', 2)", "2"),
        ("'hello mellow'.indexOf('ello', 20)", "-1"),
        ("'äöü'.indexOf('ü')", "2"),
        ("'hello mellow'.lastIndexOf('ello')", "7"),
        ("'hello mellow'.lastIndexOf('ello', 6)", "1"),
        ("'hello mellow'.lastIndexOf('')", "12"),
        ("'aaa'.lastIndexOf('aa', 0)", "0"),
        ("'äöä'.lastIndexOf('ä', 1)", "0"),
        ("'äöä'.lastIndexOf('ä', 2)", "2"),
        ("'aä'.lastIndexOf('a', 1)", "0"),
        ("'TacoCÆt'.lowerAscii()", "\"tacocÆt\""),
        ("'TacoCÆt'.upperAscii()", "\"TACOCÆT\""),
        ("'hello hello'.replace('he', 'we')", "\"wello wello\""),
        ("'hello hello'.replace('he', 'we', 1)", "\"wello hello\""),
        ("'hello hello'.replace('he', 'we', 0)", "\"hello hello\""),
        ("'hello hello'.replace('he', 'we', -1)", "\"wello wello\""),
        ("'ab'.replace('', '_')", "\"_a_b_\""),
        ("'a,b,c'.split(',')", "[\"a\",\"b\",\"c\"]"),
        ("'a,b,c'.split(',', 2)", "[\"a\",\"b,c\"]"),
        ("'a,b,c'.split(',', 0)", "[]"),
        ("'a,b,c'.split(',', 1)", "[\"a,b,c\"]"),
        ("'aöb'.split('')", "[\"a\",\"ö\",\"b\"]"),
        ("''.split(',')", "[\"\"]"),
        ("'tacocat'.substring(4)", "\"cat\""),
        ("'tacocat'.substring(0, 4)", "\"taco\""),
        ("'äöü'.substring(1, 2)", "\"ö\""),
        ("'  \\ttrim\\n    '.trim()", "\"trim\""),
        ("['hello', 'mellow'].join()", "\"hellomellow\""),
        ("['hello', 'mellow'].join(' ')", "\"hello mellow\""),
        ("[].join('/')", "\"\""),
        ("'gums'.reverse()", "\"smug\""),
        ("'abc'.startsWith('ab') && 'abc'.endsWith('bc') && 'abc'.contains('b')", "true"),
        ("size('äöü') + 'äöü'.size()", "6"),
        ("object.metadata.name.substring(1, 3)", "\"ho\""),
        ("object.spec.containers[0].image.split(':')[1]", "\"1.42.0\""),
    ]);
    none(&[
        ("'abc'.charAt(4)", "behind the end of the string"),
        ("'abc'.charAt(-1)", "no negative position"),
        ("'abc'.substring(2, 1)", "`substring` ends before it begins"),
        ("'abc'.substring(5)", "behind the end"),
        ("['a', 1].join()", "`join` takes a list of strings, and this one holds an integer"),
        ("(1).startsWith('a')", "`startsWith` takes a string, not an integer"),
    ]);
}

#[test]
fn patterns() {
    all(&[
        ("object.metadata.name.matches('^s.o')", "true"),
        ("matches('eu-1', '^eu-[0-9]+$')", "true"),
        ("'٣'.matches('^\\\\d$')", "false"),
        ("'abc 123 456'.find('[0-9]+')", "\"123\""),
        ("'abc'.find('[0-9]+')", "\"\""),
        ("'123 abc 456'.findAll('[0-9]+')", "[\"123\",\"456\"]"),
    ]);
    none(&[("replicas.matches('a')", "a pattern is for a string, not for an integer")]);
}

#[test]
fn formats() {
    all(&[
        ("'%s is %d of %s'.format(['a', 1, [1, 'b', null]])", "\"a is 1 of [1, b, null]\""),
        ("'%s'.format([{'b': 1, 'a': true}])", "\"{a: true, b: 1}\""),
        ("'%.2f %f %e'.format([1.005, 2, 1234.5])", "\"1.00 2.000000 1.234500e+03\""),
        ("'%b %b %o %x %X'.format([5, true, 8, 255, 255])", "\"101 1 10 ff FF\""),
        ("'%x'.format(['hi'])", "\"6869\""),
        ("'%x'.format([-16])", "\"-10\""),
        ("'100%%'.format([])", "\"100%\""),
        ("'%d'.format([0.0/0.0])", "\"NaN\""),
        ("'%03s'.size()", "4"),
    ]);
    none(&[
        ("'%s'.format([])", "too few values"),
        ("'%s'.format([1, 2])", "more values"),
        ("'%y'.format([1])", "`format` knows"),
        ("'%'.format([1])", "`format` knows"),
        ("'%.101f'.format([1.0])", "a number up to 100"),
        ("'%d'.format(['a'])", "`format` can't write a string as %d"),
    ]);
}

#[test]
fn lists() {
    all(&[
        ("[1, 2, 2.5].isSorted()", "true"),
        ("[2, 1].isSorted()", "false"),
        ("[].isSorted()", "true"),
        ("['a', 'b'].isSorted()", "true"),
        ("[1, 3].sum()", "4"),
        ("[1.5, 2.0].sum()", "3.5"),
        ("[].sum()", "0"),
        ("object.spec.numbers.min()", "1"),
        ("object.spec.numbers.max()", "3"),
        ("['b', 'a'].min()", "\"a\""),
        ("[1, 2, 2, 3].indexOf(2)", "1"),
        ("[1, 2, 2, 3].lastIndexOf(2)", "2"),
        ("[1].indexOf(7)", "-1"),
        ("[1, 2, 1.0, 'a', 'a'].distinct()", "[1,2,\"a\"]"),
        ("object.spec.numbers.sort()", "[1,2,3]"),
        ("['b', 'a'].sort()", "[\"a\",\"b\"]"),
        ("[1, 2, 3].reverse()", "[3,2,1]"),
        ("[1, 2, 3].slice(1, 3)", "[2,3]"),
        ("[[1], 2, [3, [4]]].flatten()", "[1,2,3,[4]]"),
        ("lists.range(3)", "[0,1,2]"),
        ("size([1, 2]) + {'a': 1}.size()", "3"),
        ("[quantity('1'), quantity('500m')].sum()", "\"1500m\""),
        ("[quantity('1'), quantity('500m')].min()", "\"500m\""),
    ]);
    none(&[
        ("[].min()", "`min` of a list without items"),
        (
            "[{}].max()",
            "`max` takes a list of values that have an order among them, and this one holds a map",
        ),
        ("[1, 'a'].isSorted()", "`isSorted` takes"),
        ("[1, 1.0].sum()", "`sum` takes"),
        ("['a'].sum()", "`sum` takes"),
        ("[9223372036854775807, 1].sum()", "beyond what an integer holds"),
        ("[1.0, 0.0 / 0.0].sort()", "NaN"),
        ("[1, 'a'].sort()", "`sort` takes"),
        ("[1, 1.5].sort()", "`sort` takes a list of values of one kind"),
        ("[1].slice(0, 2)", "beyond the list"),
        ("lists.range(-1)", "no negative number"),
        ("'a'.sum()", "`sum` takes a list, not a string"),
    ]);
}

#[test]
fn quantities() {
    all(&[
        ("isQuantity('1.3Gi')", "true"),
        ("isQuantity('1.3GiB')", "false"),
        ("quantity('500000G').isInteger()", "true"),
        ("quantity('500m').isInteger()", "false"),
        ("quantity('50k').asInteger()", "50000"),
        ("quantity('500m').asApproximateFloat()", "0.5"),
        ("quantity('50k').asApproximateFloat()", "50000"),
        ("quantity('-50k').sign()", "-1"),
        ("quantity('0').sign()", "0"),
        ("quantity('50k').add(20)", "\"50020\""),
        ("quantity('50k').add(quantity('20k'))", "\"70k\""),
        ("quantity('50k').sub(20000)", "\"30k\""),
        ("quantity('1Gi').sub(quantity('512Mi'))", "\"512Mi\""),
        ("quantity('0').sub(quantity('512Mi'))", "\"-512Mi\""),
        ("quantity('1Gi').mul(3)", "\"3Gi\""),
        ("quantity('250m').mul(2)", "\"500m\""),
        ("quantity('1k').mul(-1)", "\"-1k\""),
        ("quantity('1Mi').mul(0)", "\"0\""),
        ("quantity(quantity('250m').asApproximateFloat() * 1.5)", "\"375m\""),
        ("quantity(1e22)", "\"10000E\""),
        ("quantity('200M').compareTo(quantity('0.2G'))", "0"),
        ("quantity('150Mi').isGreaterThan(quantity('100Mi'))", "true"),
        ("quantity('50M').isLessThan(quantity('100M'))", "true"),
        ("quantity('200M') == quantity('0.2G')", "true"),
        ("quantity(2).asInteger()", "2"),
        ("quantity(object.spec.ratio).asApproximateFloat()", "1.5"),
        ("string(quantity('1000m'))", "\"1\""),
        ("object.spec.containers.map(c, quantity(c.resources.limits.memory)).sum()", "\"640Mi\""),
    ]);
    none(&[
        ("quantity('x')", "a quantity is a number with an optional suffix"),
        ("quantity('500m').asInteger()", "not an integer"),
        ("quantity('1').compareTo(1)", "`compareTo` takes a quantity, not an integer"),
        ("quantity(true)", "`quantity` takes a string, not a boolean"),
        ("dyn(quantity('1')) < dyn(quantity('2'))", "`<` is not for quantities; write `a.isLessThan(b)`"),
        ("dyn(quantity('1Gi')) * 2", "`*` is not for quantities; write `a.mul(2)`"),
        ("quantity('1Gi').mul(1.5)", "write `quantity(a.asApproximateFloat() * 1.5)`"),
        ("quantity('1Gi').mul('2')", "`mul` takes an integer, not a string"),
        ("quantity('1Ei').mul(9223372036854775807)", "beyond what a quantity holds"),
    ]);
}

#[test]
fn conversions() {
    all(&[
        ("int('42') + int(2.9) + int(-2.9)", "42"),
        ("double('1.5') + double(1)", "2.5"),
        ("string(1) + string(1.5) + string(true) + string(2.0)", "\"11.5true2\""),
        ("string(1e6)", "\"1000000\""),
        ("bool('true')", "true"),
        ("dyn(1) == 1", "true"),
        ("type('a') == string && type([]) == list && type({}) == map && type(null) == null_type", "true"),
        ("type(type(1)) == type", "true"),
    ]);
    none(&[
        ("int('4.2')", "the string is not an integer"),
        ("int(1e300)", "beyond what an integer holds"),
        ("int(9223372036854775807.0)", "beyond what an integer holds"),
        ("int(true)", "`int` takes a number or a string, not a boolean"),
        ("double('x')", "not a number"),
        ("bool('yes')", "not a boolean"),
        ("string([1])", "`string` takes"),
    ]);
}
