/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/headers.h"

#define TCP 6
#define TCP_HEADER_B 20
#define FLAGS_AT 13
#define SYN 2
#define ACK 16

enum { V4_HEADER_B = 20, V4_PROTOCOL_AT = 9, V4_LAST_AT = 19 };
enum { V6_HEADER_B = 40, V6_PROTOCOL_AT = 6, V6_TO_AT = 24, V6_LAST_AT = 39, V6_MULTICAST = 0xff };

static bool is_v4(const unsigned char *ip, size_t bytes)
{
    return bytes >= V4_HEADER_B && ip[0] >> 4 == 4;
}

static bool is_v6(const unsigned char *ip, size_t bytes)
{
    return bytes >= V6_HEADER_B && ip[0] >> 4 == 6;
}

int header_host(const unsigned char *ip, size_t bytes)
{
    if (is_v4(ip, bytes))
        return ip[V4_LAST_AT];
    return is_v6(ip, bytes) && ip[V6_TO_AT] != V6_MULTICAST ? ip[V6_LAST_AT] : -1;
}

int header_opens(const unsigned char *ip, size_t bytes)
{
    size_t at = is_v4(ip, bytes) ? (size_t)(ip[0] & 15) * 4 : V6_HEADER_B;
    bool tcp = is_v4(ip, bytes)   ? ip[V4_PROTOCOL_AT] == TCP
               : is_v6(ip, bytes) ? ip[V6_PROTOCOL_AT] == TCP
                                  : false;
    if (!tcp || bytes < at + TCP_HEADER_B || (ip[at + FLAGS_AT] & (SYN | ACK)) != SYN)
        return -1;
    return ip[at + 2] << 8 | ip[at + 3];
}
