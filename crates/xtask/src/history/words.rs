//! What a history is worded with: the words themselves, and how they are put together.
//!
//! The first are the most frequent; the rest is made of roots, with something before and after.

/// Words in about the order of their frequency in texts on programs.
pub(super) const FREQUENT: &str = "the to is of and in a that for it this on with be as not are \
    we from by at or if so file test but can error when now line was code only has which will \
    use its one all no value run then should first also there before after same new after each \
    because into fix where type what function case return path name still returns both call than \
    checks would change needs two key state let data set next last empty read write add check \
    remove tests build index store cache request response server client token user config option \
    default input output list map string number byte size limit count time field record table row \
    column query search result update insert delete create open close start stop retry timeout \
    thread lock queue task event message session handle parse format match branch commit merge \
    version release package module crate import export class object method interface struct \
    trait enum variable constant argument parameter parsing serialize buffer stream socket port \
    host address header body status code page view form button component render style layout \
    route link node tree graph edge child parent root leaf left right top bottom order sort \
    filter group batch chunk block page offset cursor pointer reference copy clone move borrow \
    owner scope lifetime memory stack heap allocation leak panic crash failure exception warning \
    debug info trace log metric counter gauge histogram latency throughput memory disk network \
    process signal exit shell command script environment directory folder permission access \
    policy role secret password certificate signature hash checksum digest encode decode compress \
    archive backup restore migrate schema transaction rollback constraint foreign unique primary \
    deploy container image volume cluster replica shard partition balance proxy gateway endpoint \
    probably actually instead already however therefore otherwise usually exactly separately \
    between without inside outside above below during until while though since either neither";

pub(super) const ROOTS: &str = "index queue cache parse token shard batch merge split trace fetch \
    store graph route guard latch merge probe stage yield align blend carve drift ember flint \
    grove haven ivory joust knoll lumen mirth noble orbit plume quill ridge swirl thorn umber \
    vigor woven xenon yearn zephyr anchor beacon cipher dynamo engine fabric garnet hollow insert \
    jigsaw kernel ledger marker narrow object packet quorum render signal ticket uplink vector \
    window access bundle client deploy emit filter gather handle import junction kindle layer \
    mirror notify offset policy quota record schema target update verify wrap expand yoke zone \
    absorb buffer cursor driver encode folder granite harbor invoke jacket kettle locate metric \
    nested option pointer query reduce socket thread unlock volume worker export yonder zenith \
    attach border column domain escape format growth header insight jumble keeper linear module \
    number output period quartz region switch tunnel urgent vendor walker exact yellow zigzag \
    arrive bottle candle decide effect finish glance humble invite jungle kitchen listen method \
    nature orange parcel rabbit season travel useful valley winter candidate balance capture \
    digest enclose forward gateway history inspect journal license message network operate \
    payload quantum replica session tenant uniform virtual waypoint extract yielding account \
    billing catalog display element feature gallery hosting invoice keyword library machine";

pub(super) const BEFORE: &str = "re un pre de sub over under inter multi non auto co cross dis en \
    fore hyper in mid mis out post pro semi super trans up";

pub(super) const AFTER: &str = "s ed er ers ing able ability ment ments ness less ful ize izer \
    ized izes ization ification ify ifier ory al ally ism ist ive ively ance ant ary ation ator \
    hood let like ling ous ship some ward wise";

pub(super) const FOLDERS: &str = "src lib tests core api internal pkg app components services \
    handlers models routes store db cmd scripts config hooks pages views middleware";

/// Sentences of prompts. `$` and a letter stand for what `speech` puts there.
pub(super) const PROMPTS: &[&str] = &[
    "Please fix the failing test `$i` in $p.",
    "Can you look at $p and tell me why $T returns $w here?",
    "The build is red again: $e",
    "I get `$e` when I run it with $n workers.",
    "Add a $w option to `$c` and cover it with a test.",
    "Rename `$i` to `$f` everywhere.",
    "Don't touch $p, the other team is working on it.",
    "What does `$T` do when the $w is $w?",
    "Let's split $p, it has become too long.",
    "Write down the plan first, then go step by step.",
    "It still fails on CI. Here is the log:\n\n$e\n$e",
    "ok go on",
    "yes, do that",
    "Make it faster: $n ms for $N records is too slow.",
    "Why is $s?",
    "Please make sure that $s.",
];

/// Sentences of answers and of reasoning.
pub(super) const ANSWERS: &[&str] = &[
    "I'll look at $p first.",
    "The problem is in `$i`: $s.",
    "`$T` holds the $w, and `$c` reads it before it is set.",
    "Now the test `$f` passes, and $n others do as before.",
    "I changed $p so that $s.",
    "There are $n callers of `$i`; only the one in $p needs the change.",
    "The error `$e` comes from line $n of $p.",
    "Let me run the tests again.",
    "That leaves $p.",
    "- `$i`: $s",
    "- **$w**: $s",
    "So $s, which means that $s.",
    "Wait, `$c` is also called from $p; $s.",
    "Two things are worth knowing: $s, and $s.",
    "The commit is $h.",
];

pub(super) const ERRORS: &[&str] = &[
    "error[E0$n]: mismatched types: expected `$T`, found `$T`",
    "TypeError: Cannot read properties of undefined (reading '$c')",
    "AssertionError: expected $n to equal $n",
    "error: cannot find value `$i` in this scope",
    "thread '$i' panicked at $p:$n:$n: index out of bounds: the len is $n but the index is $n",
    "$p:$n:$n: error TS2$n: Property '$c' does not exist on type '$T'.",
    "ECONNREFUSED 127.0.0.1:$N",
    "FileNotFoundError: [Errno 2] No such file or directory: '$P'",
    "fatal: bad object $H",
    "ModuleNotFoundError: No module named '$i'",
    "KeyError: '$f'",
    "timeout of $Nms exceeded while waiting for $i",
];

pub(super) const RUST: &[&str] = &[
    "    let $i = self.$i.$i();",
    "    if $i.is_empty() {",
    "        return Err($T::$T { $i, $i });",
    "    }",
    "",
    "/// $S.",
    "pub fn $i(&self, $i: &$T) -> Result<$T, $T> {",
    "    for $i in $i.iter().filter(|it| it.$i > $n) {",
    "        $i.push($T::new($i, $n));",
    "    match $i {",
    "        $T::$T(it) => it.$i(),",
    "        $T::$T { $i, .. } => $i,",
    "}",
    "use crate::$i::{$T, $T};",
    "    // $S.",
    "    assert_eq!($i($n), Some($n));",
    "    let $f = format!(\"$s: {$i}\");",
    "    #[test]",
    "    fn $f() {",
    "    self.$i += $n;",
];

pub(super) const TYPESCRIPT: &[&str] = &[
    "  const $c = await this.$c.$c($c);",
    "  if (!$c) {",
    "    throw new $T(`$s: ${$c}`);",
    "  }",
    "",
    "export interface $T {",
    "  $c: $T;",
    "  $c?: string | null;",
    "}",
    "import { $T, $c } from \"./$i\";",
    "export async function $c($c: $T): Promise<$T[]> {",
    "  return $c.map((it) => ({ ...it, $c: it.$c ?? $n }));",
    "  // $S.",
    "  expect($c.$c).toBe($n);",
    "  it(\"$s\", async () => {",
    "  });",
    "      <$T $c={$c} on$T={() => $c($n)} />",
    "  const [$c, set$T] = useState<$T>($n);",
    "  logger.info({ $c, $c }, \"$s\");",
];

pub(super) const PYTHON: &[&str] = &[
    "    $i = self.$i.$i($i)",
    "    if not $i:",
    "        raise $T(f\"$s: {$i}\")",
    "",
    "class $T($T):",
    "    \"\"\"$S.\"\"\"",
    "    def $i(self, $i: $T, *, $i: int = $n) -> $T:",
    "        for $i in self.$i:",
    "            yield $i, $i[\"$w\"]",
    "    return [it.$i for it in $i if it.$i > $n]",
    "from $i.$i import $T, $i",
    "    # $S.",
    "    assert $i($n) == $n",
    "@pytest.fixture",
    "def test_$f():",
    "    with open($i, encoding=\"utf-8\") as $i:",
    "        logging.debug(\"$s %s\", $i)",
    "    $i: dict[str, $T] = {}",
];

/// Lines of what commands print, by kind of command.
pub(super) const OUTPUTS: &[(&str, &[&str])] = &[
    (
        "cargo test $i",
        &[
            "test $i::$i::$f ... ok",
            "test $i::$i::$f ... ok",
            "test $i::tests::$i ... ok",
            "test $i::tests::$f ... FAILED",
            "   Compiling $i v$n.$n.$n (/home/dev/$i)",
            "test result: ok. $n passed; $n failed; 0 ignored; 0 measured; $n filtered out; finished in $ds",
        ],
    ),
    (
        "npm test -- $p",
        &[
            "  \u{2713} $s ($n ms)",
            "  \u{2713} $s ($n ms)",
            "  \u{2717} $s",
            "    $e",
            "      at $T.$c ($P:$n:$n)",
            "      at async $c ($P:$n:$n)",
            " PASS  $p ($d s)",
        ],
    ),
    (
        "cargo build 2>&1",
        &[
            "$e",
            "  --> $p:$n:$n",
            "   |",
            "$n |     let $i = self.$i.$i($i);",
            "   |         ^^^^^^^^^^ $s",
            "warning: unused variable: `$i`",
            "   Compiling $f v$n.$n.$n",
        ],
    ),
    (
        "tail -n $n logs/$i.log",
        &[
            "$t INFO  [$i] $s $i=$N",
            "$t INFO  [$i] request $u finished in $n ms status=200 bytes=$N",
            "$t DEBUG [$i] $c: $s",
            "$t WARN  [$i] $s, attempt $n of $n",
            "$t ERROR [$i] $e",
            "{\"level\":\"info\",\"time\":$N,\"$c\":\"$w\",\"$c\":$N,\"msg\":\"$s\",\"trace_id\":\"$H\"}",
        ],
    ),
    ("git log --oneline -n $n", &["$h $s", "$h fix($i): $s", "$h Merge branch '$w-$w'"]),
    (
        "ls -la $i",
        &[
            "-rw-r--r-- 1 dev dev $N Jun $n 10:$n $i.rs",
            "-rw-r--r-- 1 dev dev $N Jul $n 09:$n $f.ts",
            "drwxr-xr-x 4 dev dev 4096 Aug $n 12:$n $w",
        ],
    ),
    (
        "cat $i.json",
        &[
            "    \"$c\": \"$s\",",
            "    \"$c\": $N,",
            "    \"$c\": { \"$c\": [$n, $n, $n], \"$i\": \"$h\" },",
            "    \"$i\": \"$p\",",
            "    \"id\": \"$u\",",
            "  },",
            "  {",
        ],
    ),
    (
        "python3 -m pytest -q",
        &[
            "Traceback (most recent call last):",
            "  File \"$P\", line $n, in $i",
            "    $i = self.$i($i)",
            "$e",
            "FAILED $p::$f - $e",
            "$i/test_$f.py .......... [ $n%]",
        ],
    ),
    (
        "git diff $h",
        &[
            "diff --git a/$p b/$p",
            "index $h..$h 100644",
            "@@ -$n,$n +$n,$n @@ $i",
            "     let $i = $i.$i();",
            "-    let $i = self.$i($n);",
            "+    let $i = self.$f($i, $n);",
            "     }",
            "+    // $S.",
        ],
    ),
    ("find . -name '*.$w'", &["./$p", "./$i/$i/$f.rs", "./$w/$w/$i.ts"]),
    (
        "rg -n $i",
        &[
            "$p:$n:    let $i = self.$i.$i();",
            "$p:$n:        $T::$T(it) => it.$i(),",
            "$p:$n:    // $S.",
            "$p:$n:  const $c = await this.$c.$c($c);",
        ],
    ),
];
