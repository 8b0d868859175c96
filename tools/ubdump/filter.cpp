// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "filter.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <arpa/inet.h>

namespace ubdump
{

namespace
{

using NodePtr = std::unique_ptr<Filter::Node>;

enum class Compare : std::uint8_t { present, equal, unequal, less, at_most, more, at_least, bits };

constexpr int deepest = 200; // brackets and negations

struct Token {
	enum Kind : std::uint8_t { word, sign, end } kind;
	std::string text;
	std::size_t column;
	bool quoted = false;
};

bool in_word(char c)
{
	return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == ':' ||
	       c == '/' || c == '-' || c == '+';
}

class Lexer
{
      public:
	explicit Lexer(std::string_view text) : text_(text)
	{
		next();
	}

	const Token &token() const
	{
		return token_;
	}
	bool is(std::string_view sign) const
	{
		return token_.kind != Token::end && !token_.quoted && token_.text == sign;
	}
	bool skip(std::string_view sign)
	{
		if (!is(sign))
			return false;
		next();
		return true;
	}
	Token pop()
	{
		Token t = token_;

		next();
		return t;
	}

      private:
	void next()
	{
		while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
			++at_;
		token_ = { Token::end, "", at_ + 1 };
		if (at_ == text_.size())
			return;
		if (text_[at_] == '"')
			return quoted();
		std::size_t n = 0;

		while (at_ + n < text_.size() && in_word(text_[at_ + n]))
			++n;
		token_.kind = n ? Token::word : Token::sign;
		if (!n)
			n = sign_length();
		token_.text = text_.substr(at_, n);
		at_ += n;
	}

	std::size_t sign_length() const
	{
		for (std::string_view s : { "==", "!=", "<=", ">=", "&&", "||" })
			if (text_.substr(at_, 2) == s)
				return 2;
		if (std::string_view("!<>()&").find(text_[at_]) != std::string_view::npos)
			return 1;
		throw BadFilter(at_ + 1, std::string("'") + text_[at_] + "' is no operator");
	}

	void quoted()
	{
		const std::size_t close = text_.find('"', at_ + 1);

		if (close == std::string_view::npos)
			throw BadFilter(at_ + 1, "no second quotation mark");
		token_.kind = Token::word;
		token_.quoted = true;
		token_.text = text_.substr(at_ + 1, close - at_ - 1);
		at_ = close + 1;
	}

	std::string_view text_;
	std::size_t at_ = 0;
	Token token_{ Token::end, "", 1 };
};

/// What a field is compared with.
struct Value {
	std::uint64_t number = 0;
	std::string text;
	std::vector<std::uint8_t> bytes;
	unsigned prefix = 0; // bits of an address
};

bool order(Compare c, int sign)
{
	switch (c) {
	case Compare::equal:
		return sign == 0;
	case Compare::unequal:
		return sign != 0;
	case Compare::less:
		return sign < 0;
	case Compare::at_most:
		return sign <= 0;
	case Compare::more:
		return sign > 0;
	case Compare::at_least:
		return sign >= 0;
	default:
		return false;
	}
}

bool same_prefix(Bytes a, Bytes b, unsigned bits)
{
	if (a.size() != b.size())
		return false;
	for (std::size_t i = 0; i < a.size() && bits; ++i) {
		const unsigned n = std::min(bits, 8u);

		if ((a[i] ^ b[i]) >> (8 - n))
			return false;
		bits -= n;
	}
	return true;
}

class Term : public Filter::Node
{
      public:
	Term(std::vector<const Spec *> specs, Compare compare, Value value)
		: specs_(std::move(specs)), compare_(compare), value_(std::move(value))
	{
	}

	/// One field of that name that fits will do.
	bool holds(const Packet &p) const override
	{
		for (const Layer &l : p.layers)
			for (const Field &f : l.fields)
				if (std::find(specs_.begin(), specs_.end(), f.spec) !=
					    specs_.end() &&
				    fits(f))
					return true;
		return wants_number() && order_of(p.number);
	}

      private:
	bool wants_number() const
	{
		return specs_.front()->name == std::string_view("number");
	}
	bool order_of(std::uint64_t n) const
	{
		if (compare_ == Compare::present)
			return true;
		if (compare_ == Compare::bits)
			return n & value_.number;
		return order(compare_, n < value_.number ? -1 : n > value_.number);
	}
	bool fits(const Field &f) const
	{
		const Kind kind = f.spec->kind;

		if (is_number(kind) || kind == Kind::truth)
			return compare_ == Compare::present ? f.number != 0 : order_of(f.number);
		if (compare_ == Compare::present)
			return true;
		if (kind == Kind::text)
			return same_word(f.text, value_.text) == (compare_ == Compare::equal);
		const unsigned bits = kind == Kind::address ?
					      value_.prefix :
					      static_cast<unsigned>(f.raw.size() * 8);

		return same_prefix(f.raw, value_.bytes, bits) == (compare_ == Compare::equal);
	}

	std::vector<const Spec *> specs_;
	Compare compare_;
	Value value_;
};

class Not : public Filter::Node
{
      public:
	explicit Not(NodePtr node) : node_(std::move(node))
	{
	}
	bool holds(const Packet &p) const override
	{
		return !node_->holds(p);
	}

      private:
	NodePtr node_;
};

class Several : public Filter::Node
{
      public:
	Several(bool all, std::vector<NodePtr> nodes) : all_(all), nodes_(std::move(nodes))
	{
	}
	bool holds(const Packet &p) const override
	{
		const auto holds = [&p](const NodePtr &n) { return n->holds(p); };

		return all_ ? std::all_of(nodes_.begin(), nodes_.end(), holds) :
			      std::any_of(nodes_.begin(), nodes_.end(), holds);
	}

      private:
	bool all_;
	std::vector<NodePtr> nodes_;
};

// ---- values, by the kind of their field ----

bool as_number(std::string_view s, std::uint64_t &n)
{
	const bool hex = s.starts_with("0x") || s.starts_with("0X");

	if (hex)
		s.remove_prefix(2);
	const auto r = std::from_chars(s.data(), s.data() + s.size(), n, hex ? 16 : 10);

	return !s.empty() && r.ec == std::errc() && r.ptr == s.data() + s.size();
}

/// Names of opcodes and the like, as the field has them.
bool as_name(const Spec &spec, std::string_view s, std::uint64_t &n)
{
	for (const Name &name : spec.names)
		if (same_word(s, name.text)) {
			n = name.value;
			return true;
		}
	return false;
}

bool as_address(std::string s, Value &v)
{
	const std::size_t slash = s.find('/');
	std::uint64_t bits = ~0ull;
	std::array<std::uint8_t, 16> room;

	if (slash != std::string::npos) {
		if (!as_number(std::string_view(s).substr(slash + 1), bits))
			return false;
		s.resize(slash);
	}
	const bool v4 = inet_pton(AF_INET, s.c_str(), room.data()) == 1;

	if (!v4 && inet_pton(AF_INET6, s.c_str(), room.data()) != 1)
		return false;
	v.bytes.assign(room.begin(), room.begin() + (v4 ? 4 : 16));
	if (slash == std::string::npos)
		bits = v.bytes.size() * 8;
	v.prefix = static_cast<unsigned>(std::min<std::uint64_t>(bits, 255));
	return bits <= v.bytes.size() * 8;
}

/// With or without colons.
bool as_bytes(std::string s, std::vector<std::uint8_t> &bytes)
{
	std::erase(s, ':');
	if (s.size() % 2)
		return false;
	for (std::size_t i = 0; i < s.size(); i += 2) {
		std::uint8_t b = 0;

		if (std::from_chars(&s[i], &s[i] + 2, b, 16).ptr != &s[i] + 2)
			return false;
		bytes.push_back(b);
	}
	return true;
}

/// Names that "opcode" can have.
bool is_operation(std::string_view word)
{
	for (const Operation &o : all_operations())
		if (same_word(word, o.name))
			return true;
	for (const Name &n : tp_names)
		if (n.value > 1 && same_word(word, n.text))
			return true;
	for (const char *name : { "TPNAK", "TPNAK-CC", "Keep-alive", "TPCM" })
		if (same_word(word, name))
			return true;
	return false;
}

Value value_of(const Spec &spec, const Token &t)
{
	const std::string what = "'" + t.text + "' is ";
	Value v;

	switch (spec.kind) {
	case Kind::decimal:
	case Kind::hex:
		if (!as_number(t.text, v.number))
			throw BadFilter(t.column, what + "no number");
		break;
	case Kind::named:
		if (!as_number(t.text, v.number) && !as_name(spec, t.text, v.number))
			throw BadFilter(t.column,
					what + "neither a number nor a name of " + spec.name);
		break;
	case Kind::truth:
		if (t.text != "true" && t.text != "false" && t.text != "1" && t.text != "0")
			throw BadFilter(t.column, what + "neither true nor false");
		v.number = t.text == "true" || t.text == "1";
		break;
	case Kind::address:
		if (!as_address(t.text, v))
			throw BadFilter(t.column, what + "no address");
		break;
	case Kind::mac:
	case Kind::bytes:
		if (!as_bytes(t.text, v.bytes))
			throw BadFilter(t.column, what + "not hexadecimal");
		break;
	case Kind::text:
		if (spec.name == std::string_view("opcode") && !is_operation(t.text))
			throw BadFilter(t.column, what + "no operation");
		v.text = t.text;
		break;
	}
	return v;
}

class Parser
{
      public:
	explicit Parser(std::string_view text) : in_(text)
	{
	}

	NodePtr whole()
	{
		if (in_.token().kind == Token::end)
			return nullptr;
		NodePtr n = several(false);

		if (in_.token().kind != Token::end)
			throw BadFilter(in_.token().column,
					"'" + in_.token().text + "' where && or || should be");
		return n;
	}

      private:
	NodePtr several(bool all)
	{
		std::vector<NodePtr> nodes;

		do {
			nodes.push_back(all ? single() : several(true));
		} while (all ? in_.skip("&&") || in_.skip("and") :
			       in_.skip("||") || in_.skip("or"));
		if (nodes.size() == 1)
			return std::move(nodes.front());
		return std::make_unique<Several>(all, std::move(nodes));
	}

	NodePtr single()
	{
		const Token &t = in_.token();
		NodePtr n;

		if (++depth_ > deepest)
			throw BadFilter(t.column, "too many brackets or negations");
		if (in_.skip("!") || in_.skip("not")) {
			n = std::make_unique<Not>(single());
		} else if (const std::size_t column = t.column; in_.skip("(")) {
			n = several(false);
			if (!in_.skip(")"))
				throw BadFilter(column, "no bracket closes this one");
		} else {
			n = term();
		}
		--depth_;
		return n;
	}

	Compare compare()
	{
		static constexpr struct {
			const char *sign;
			Compare compare;
		} signs[] = {
			{ "==", Compare::equal },   { "!=", Compare::unequal },
			{ "<=", Compare::at_most }, { ">=", Compare::at_least },
			{ "<", Compare::less },	    { ">", Compare::more },
			{ "&", Compare::bits },
		};

		for (const auto &s : signs)
			if (in_.skip(s.sign))
				return s.compare;
		return Compare::present;
	}

	NodePtr term()
	{
		const Token name = in_.pop();

		if (name.kind != Token::word)
			throw BadFilter(name.column,
					name.kind == Token::end ?
						std::string("a field is missing") :
						"'" + name.text + "' where a field should be");
		auto specs = specs_named(name.text);

		if (specs.empty())
			throw BadFilter(name.column, "no field '" + name.text + "'");
		const Spec &spec = *specs.front();
		const std::size_t column = in_.token().column;
		const Compare c = compare();

		if (c == Compare::present)
			return std::make_unique<Term>(std::move(specs), c, Value{});
		const bool ordered = c != Compare::equal && c != Compare::unequal;

		if (ordered && !is_number(spec.kind))
			throw BadFilter(column, std::string(spec.name) + " has only == and !=");
		const Token value = in_.pop();

		if (value.kind != Token::word)
			throw BadFilter(value.column, "a value is missing");
		return std::make_unique<Term>(std::move(specs), c, value_of(spec, value));
	}

	Lexer in_;
	int depth_ = 0;
};

} // namespace

Filter::Filter(std::string_view text) : root_(Parser(text).whole())
{
}

} // namespace ubdump
