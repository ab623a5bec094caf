/* SPDX-License-Identifier: MIT */

/* No exception leaves this file: the callers are C. */

#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

/* Some malformed texts, such as a line "[[[", break an assertion of the parser. A stranger's file must not end us by that,
 * and going on behind it would be undefined: it is one more way of not being TOML. */
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : throw std::logic_error("toml"))

/* Where the parser promises to throw nothing, a broken assertion ends us as it always did; compilers point that out. */
#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wexceptions"
#else
#pragma GCC diagnostic ignored "-Wterminate"
#endif
#include <toml++/toml.h>
#pragma GCC diagnostic pop

#include "common/toml.h"

extern "C" {
/* From GLib, whose header does not belong into a C++ file that has only this to do. */
char *g_strndup(const char *text, size_t size);
}

namespace {

bool has_unwritable_number(const toml::node &node) {
        if (const auto *number = node.as_floating_point())
                return !std::isfinite(number->get());
        if (const auto *table = node.as_table()) {
                for (const auto &item : *table)
                        if (has_unwritable_number(item.second))
                                return true;
        }
        if (const auto *array = node.as_array()) {
                for (const auto &item : *array)
                        if (has_unwritable_number(item))
                                return true;
        }
        return false;
}

int refuse(TomlError *reterr, size_t line, size_t column, const char *description) {
        reterr->line = line;
        reterr->column = column;
        std::strncpy(reterr->description, description, sizeof reterr->description - 1);
        reterr->description[sizeof reterr->description - 1] = '\0';
        return -EBADMSG;
}

} // namespace

extern "C" int toml_to_json(const char *text, size_t size, char **ret_json, TomlError *reterr) {
        try {
                const toml::table table = toml::parse(std::string_view(text, size));
                std::ostringstream out;

                if (has_unwritable_number(table))
                        return refuse(reterr, 1, 1, "infinities and NaN are not allowed");
                out << toml::json_formatter(table, toml::format_flags::quote_dates_and_times);
                const std::string json = out.str();
                *ret_json = g_strndup(json.data(), json.size());
                return 0;
        } catch (const toml::parse_error &error) {
                /* The library's own words quote the text, so ours say only where. */
                return refuse(reterr, error.source().begin.line, error.source().begin.column, "this is not TOML");
        } catch (const std::bad_alloc &) {
                return -ENOMEM;
        } catch (const std::exception &) {
                return refuse(reterr, 1, 1, "this is not TOML");
        }
}
