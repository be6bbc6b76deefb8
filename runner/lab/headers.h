/* SPDX-License-Identifier: Apache-2.0
 *
 * What the relay reads in the headers of a packet, of IPv4 or IPv6.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The last byte of the destination's address; -1: no unicast packet. */
int header_host(const unsigned char *ip, size_t bytes);
/* The port that a packet asks for a new TCP connection to; -1: it does not. */
int header_opens(const unsigned char *ip, size_t bytes);
