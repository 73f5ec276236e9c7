# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Write the C code that describes an application, for comch_doca_dpa_app.h.

It is in a header included after the user's source, because it needs the types there. It
is a system header, so that compilers do not warn about it, and it undefines macros of
the user that could change it.
"""

import re

from dpacc_functions import parameter

GLUE = "comch-dpacc-glue.h"

# Type of an argument passed through "...".
MACROS = """\
#define COMCH_DPA_PROMOTED(x) __typeof__(_Generic((x), _Bool: 0, char: 0, signed char: 0, \\
	unsigned char: 0, short: 0, unsigned short: 0, float: 0.0, default: (x)))
#define COMCH_DPA_TAKE(x) do { \\
	const __typeof__(x) comch_dpa_value = \\
		__builtin_va_arg(*comch_dpa_list, COMCH_DPA_PROMOTED(x)); \\
	__builtin_memcpy((void *)(__UINTPTR_TYPE__)&(x), &comch_dpa_value, sizeof(x)); \\
} while (0)
"""
KEYWORDS = ["const", "do", "enum", "extern", "return", "sizeof", "static", "struct", "typedef", "void",
            "while"]

FUNCTION = """\
static void comch_dpa_pack_{number}(void *comch_dpa_memory,
	__builtin_va_list *comch_dpa_list);
static void comch_dpa_pack_{number}(void *comch_dpa_memory,
	__builtin_va_list *comch_dpa_list)
{{
	struct comch_dpa_args_{number} *comch_dpa_args = comch_dpa_memory;
	(void)comch_dpa_args;
	(void)comch_dpa_list;
	{take}
}}
static __UINT64_TYPE__ comch_dpa_call_{number}(const void *comch_dpa_memory);
static __UINT64_TYPE__ comch_dpa_call_{number}(const void *comch_dpa_memory)
{{
	const struct comch_dpa_args_{number} *comch_dpa_args = comch_dpa_memory;
	(void)comch_dpa_args;
	{call}
}}
"""
ENTRY = """\
	{{
		.name = "{name}",
		.func = (void (*)(void)){name},
		.args_size = {size},
		.pack = comch_dpa_pack_{number},
		.call = comch_dpa_call_{number},
		.is_rpc = {is_rpc},
		.nb_args = {nb_args},
	}},
"""
APP = """\
/* Made by comch-dpacc. */
#include {header}
{declarations}
static const struct comch_doca_dpa_unit *const comch_dpa_units[] = {{ {units} }};
static struct doca_dpa_app comch_dpa_app = {{
	.version = COMCH_DOCA_DPA_APP_VERSION,
	.nb_units = {nb_units},
	.name = "{name}",
	.units = comch_dpa_units,
}};
extern struct doca_dpa_app *{name};
struct doca_dpa_app *{name} = &comch_dpa_app;
"""


def quoted(path):
    """Return a path as a C string."""
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def undefine(words):
    """Return lines that undefine macros; the user's code is already expanded."""
    names = {word for word in words if re.fullmatch(r"[A-Za-z_]\w*", word)}
    return "".join(f"#undef {name}\n" for name in sorted(names))


def members_of(header):
    """Return the names in the included header that macros could change."""
    text = re.sub(r"/\*.*?\*/|^[ \t]*#.*?$", " ", header.read_text(), flags=re.S | re.M)
    return [name for name in re.findall(r"\b[a-z]\w*", text)
            if not name.endswith("_t") and name != "va_list"]


def described(function, number):
    """Return the types and functions for one function of the user."""
    words = {function.name}
    types, members = [], []
    for i in range(len(function.parameters)):
        before, behind = parameter(function, i)
        words.update(before, behind)
        name = f"comch_dpa_type_{number}_{i}"
        types.append(" ".join(["typedef", *before, name, *behind]) + "; ")
        # The comma turns an array or a function into a pointer, like a parameter.
        members.append(f"__typeof__((0, *({name} *)0)) comch_dpa_arg{i}; ")
    fields = [f"comch_dpa_args->comch_dpa_arg{i}" for i in range(len(members))]
    call = f"{function.name}({', '.join(fields)})"
    check = ""
    if function.returns:
        args = call.replace("comch_dpa_args->", f"((struct comch_dpa_args_{number} *)0)->")
        check = f"enum {{ comch_dpa_check_{number} = sizeof((__UINT64_TYPE__){args}) }};"
    return "".join([
        undefine(words),
        # Let compiler messages about a type refer to the user's line.
        f"#line {function.line} {quoted(function.file)}\n",
        f"{''.join(types)}struct comch_dpa_args_{number} {{ {''.join(members)}}}; {check}\n",
        f"#line 1 {quoted(GLUE)}\n",
        FUNCTION.format(
            number=number,
            take="\n\t".join(f"COMCH_DPA_TAKE({field});" for field in fields),
            call=f"return (__UINT64_TYPE__){call};" if function.returns
            else f"{call};\n\treturn 0;")])


def glue(functions, header, unit):
    """Return the header to include after a source."""
    text = "/* Made by comch-dpacc. */\n#pragma GCC system_header\n"
    text += undefine(KEYWORDS + members_of(header)) + f"#include {quoted(header)}\n" + MACROS
    text += "".join(described(function, i) for i, function in enumerate(functions))
    text += "static const struct comch_doca_dpa_func comch_dpa_funcs[] = {\n"
    for i, function in enumerate(functions):
        nb_args = len(function.parameters)
        text += ENTRY.format(
            name=function.name, number=i, nb_args=nb_args,
            size=f"sizeof(struct comch_dpa_args_{i})" if nb_args > 0 else 0,
            is_rpc=int(function.mark == "__dpa_rpc__"))
    return text + (
        "};\n"
        f"extern const struct comch_doca_dpa_unit comch_dpa_unit_{unit};\n"
        f"const struct comch_doca_dpa_unit comch_dpa_unit_{unit} = "
        f"{{ comch_dpa_funcs, {len(functions)} }};\n")


def app_source(name, header, units):
    """Return the source of the application's object."""
    return APP.format(
        header=quoted(header), name=name, nb_units=len(units),
        declarations="\n".join(
            f"extern const struct comch_doca_dpa_unit comch_dpa_unit_{unit};" for unit in units),
        units=", ".join([*(f"&comch_dpa_unit_{unit}" for unit in units), "NULL"]))
