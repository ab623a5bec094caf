/* SPDX-License-Identifier: MIT */
#pragma once

/* What an approval card says. Only we compose it: what a plugin, a client or a file wrote stands in it as
 * quoted and sanitised data, and a flag says when anything was escaped, squeezed or cut (contract 5.4.2,
 * design 4.1, pains C1, C7, C8). The digest is over everything that is shown and over everything that will
 * run. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/jwriter.h"
#include "policy/grant.h"
#include "policy/trace.h"

/* A file that the call names, opened and hashed when the card is made: the same bytes run or nothing does.
 */
typedef struct ApprovalOperand {
        const char *path;
        const char *sha256; /* "" when there is no such file yet */
} ApprovalOperand;

typedef struct ApprovalFacts {
        const char *kind; /* "tool-call", "core-call", "personal-act" */
        const char *call_id;
        const char *session;
        const char *client;      /* who asks: the program behind the bus name */
        const char *plugin_name; /* for people; NULL for a core tool that a client calls */
        const char *caller_tool; /* a core call: the plugin's tool that makes it; else NULL */
        const char *workspace;   /* NULL for none */
        const char *notice;      /* a sentence about where it runs; NULL for none */
        const char *revisor;     /* the hook that revised the arguments, NULL when nobody did */
        const ApprovalSubject *subject;
        const ApprovalKeys *keys;
        const char *arguments; /* the exact final text */
        size_t arguments_size;
        const ApprovalOperand *operands;
        size_t n_operands;  /* at most OPERANDS_MAX */
        const Trace *trace; /* its asking steps are the reasons */
        unsigned offers;    /* Decision.offers */
} ApprovalFacts;

typedef struct ApprovalText {
        char *title;     /* one line */
        char *body;      /* all of it for a terminal, lines */
        char *preview;   /* the arguments as shown, at most APPROVAL_PREVIEW_BYTES_MAX bytes */
        bool escaped;    /* something was written as an escape or squeezed */
        bool cut;        /* the preview is not all; the full text is to be had by handle */
        unsigned offers; /* GRANT_OFFER() bits: none when cut, nobody allows for longer what can't be read to
                            its end */
        char *digest;    /* SHA-256 in hex */
} ApprovalText;

void approval_text_done(ApprovalText *text);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ApprovalText, approval_text_done)

/** approval_text_make() - compose a card; end @ret with approval_text_done() */
void approval_text_make(const ApprovalFacts *facts, ApprovalText *ret);

/**
 * approval_text_write() - the card as a JSON object for approvers
 *
 * {"kind","call_id","title","origin":[...],"session","plugin","build","tool","workspace","arguments","arguments_size","cut",
 * "escaped","operands":[{"path","sha256"}],"reasons":[...],"grants":[{"scope","words"}],"text","digest"}
 */
void approval_text_write(const ApprovalText *text, const ApprovalFacts *facts, JWriter *writer);

/**
 * approval_text_squeeze() - sanitised text without long runs of blanks that push the end out of sight
 * @text: sanitised already; runs of more than 16 spaces or 4 line ends become a mark with their number
 *
 * Return: a new string; @ret_squeezed tells whether anything was done.
 */
char *approval_text_squeeze(const char *text, bool *ret_squeezed);
