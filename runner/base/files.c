/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files.h"

#include "base/err.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <openssl/evp.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int files_open(const char *path, enum files_place place)
{
    bool handed =
        place == FILES_GIVEN && (!strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6));
    int link = place == FILES_OWN ? O_NOFOLLOW : 0, wait = handed ? 0 : O_NONBLOCK;
    int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | link | wait);
    struct stat st;
    if (fd < 0)
        return -1;
    int error = fstat(fd, &st)                  ? errno
                : S_ISDIR(st.st_mode)           ? EISDIR
                : S_ISREG(st.st_mode) || handed ? 0
                                                : EMEDIUMTYPE;
    if (!error)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

FILE *files_stream(const char *path, enum files_place place)
{
    int fd = files_open(path, place);
    return fd < 0 ? NULL : fdopen(fd, "rb");
}

bool files_read(const char *path, enum files_place place, size_t most, struct text *out)
{
    char piece[65536];
    ssize_t n;
    size_t before = out->len;
    int fd = files_open(path, place), error = 0;
    if (fd < 0)
        return false;
    text_addn(out, "", 0);
    while (!error && (n = read(fd, piece, sizeof piece)) != 0) {
        if (n > 0)
            text_addn(out, piece, (size_t)n);
        error = n < 0 && errno != EINTR ? errno : out->len - before > most ? EFBIG : 0;
    }
    close(fd);
    errno = error;
    return !error;
}

bool files_list(const char *dir, const char *pattern, struct words *names)
{
    struct dirent **entries;
    int n = scandir(dir, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        bool itself = !strcmp(name, ".") || !strcmp(name, "..");
        if (!itself && (!pattern || !fnmatch(pattern, name, FNM_PERIOD)))
            words_add(names, name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return n >= 0;
}

bool files_is_folder(const char *path)
{
    struct stat s;
    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s, (void)type, (void)at;
    remove(path);
    return 0;
}

void files_remove_tree(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

void files_auto_close(const int *fd)
{
    int error = errno;
    if (*fd >= 0)
        close(*fd);
    errno = error;
}

void files_auto_fclose(FILE **f)
{
    int error = errno;
    if (*f)
        fclose(*f);
    errno = error;
}

const char *files_why(int error)
{
    return error == ELOOP         ? "it is a link, which is not followed here"
           : error == EMEDIUMTYPE ? "it is not a regular file"
           : error == EFBIG       ? "it is too large"
                                  : strerror(error);
}

bool files_write_all(int fd, const void *bytes, size_t n)
{
    const char *s = bytes;
    while (n) {
        ssize_t wrote = write(fd, s, n);
        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            s += wrote;
            n -= (size_t)wrote;
        }
    }
    return true;
}

bool files_write_new(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0)
        return false;
    bool good = files_write_all(fd, text, strlen(text)) && !fsync(fd);
    int error = errno;
    if (close(fd))
        return false;
    errno = error;
    return good;
}

/* Is it ".NAME.PID" of a process that has ended? */
static bool is_abandoned(const char *file, const char *name)
{
    size_t n = strlen(name);
    char *end;
    if (file[0] != '.' || strncmp(file + 1, name, n) != 0 || file[1 + n] != '.' ||
        !isdigit((unsigned char)file[2 + n]))
        return false;
    long pid = strtol(file + 2 + n, &end, 10);
    return !*end && pid > 0 && pid != (long)getpid() && kill((pid_t)pid, 0) && errno == ESRCH;
}

/* The folder is listed for its first file only. Abandoned files are older than this process, so one
 * look finds them all. */
char *files_temporary(const char *path)
{
    static char *listed;
    static struct words files;
    const char *name = path_name(path);
    AUTO_FREE char *dir = xstrfmt("%.*s", (int)(name - path), path);
    if (!listed || strcmp(listed, dir)) {
        xstrset(&listed, dir);
        words_free(&files);
        files_list(*dir ? dir : ".", NULL, &files);
    }
    for (size_t i = 0; i < files.n; i++)
        if (is_abandoned(files.v[i], name)) {
            AUTO_FREE char *old = xstrfmt("%s%s", dir, files.v[i]);
            files_remove_tree(old);
        }
    return xstrfmt("%s.%s.%ld", dir, name, (long)getpid());
}

bool files_replace(const char *path, const char *text, mode_t mode)
{
    const char *name = path_name(path);
    AUTO_FREE char *dir =
        name > path ? xstrfmt("%.*s", (int)(name - path - 1), path) : xstrdup(".");
    AUTO_FREE char *temp = files_temporary(path);
    unlink(temp);
    bool good = files_write_new(temp, text, mode) && !rename(temp, path);
    int error = errno;
    if (good)
        files_sync_folder(dir);
    else
        unlink(temp);
    errno = error;
    return good;
}

bool files_put(const char *path, const char *text)
{
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && files_write_all(fd, text, strlen(text));
}

char *files_make_above(const char *path)
{
    char *p = xstrdup(path);
    for (char *slash = p + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        if (mkdir(p, 0777) && errno != EEXIST)
            return p;
    }
    free(p);
    return NULL;
}

void files_sync_folder(const char *dir)
{
    AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        fsync(fd);
}

/* ---- this program ---- */

const char *program_dir(void)
{
    static char dir[4096];
    if (!dir[0]) {
        ssize_t n = readlink("/proc/self/exe", dir, sizeof dir - 1);
        dir[n > 0 ? n : 0] = '\0';
        char *slash = strrchr(dir, '/');
        if (slash)
            slash[slash == dir] = '\0';
    }
    return dir;
}

bool program_runs(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

char *program_find(const char *name)
{
    const char *path = getenv("PATH");
    AUTO_WORDS struct words dirs = {0};
    words_split(&dirs, path ? path : "/usr/local/bin:/usr/bin:/bin", ':');
    char *found = NULL;
    for (size_t i = 0; i < dirs.n && !found; i++) {
        found = xstrfmt("%s/%s", *dirs.v[i] ? dirs.v[i] : ".", name);
        if (!program_runs(found)) {
            free(found);
            found = NULL;
        }
    }
    return found;
}

/* ---- SHA-256 ---- */

#define PIECE ((size_t)256 << 10)

/* These calls fail only without memory, or where a policy of the system forbids SHA-256. */
static void need(int good)
{
    if (!good)
        abort();
}

void sha256_hex(const void *data, size_t n, char hex[65])
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned size;
    need(EVP_Digest(data, n, hash, &size, EVP_sha256(), NULL));
    sodium_bin2hex(hex, 65, hash, size);
}

void sha256_add(EVP_MD_CTX **hash, const void *data, size_t n)
{
    if (!*hash) {
        *hash = EVP_MD_CTX_new();
        need(*hash && EVP_DigestInit_ex(*hash, EVP_sha256(), NULL));
    }
    need(EVP_DigestUpdate(*hash, data, n));
}

void sha256_with(const EVP_MD_CTX *hash, const void *more, size_t n, char hex[65])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size;
    EVP_MD_CTX *all = EVP_MD_CTX_new();
    need(all && EVP_MD_CTX_copy_ex(all, hash) && EVP_DigestUpdate(all, more, n) &&
         EVP_DigestFinal_ex(all, digest, &size));
    sodium_bin2hex(hex, 65, digest, size);
    EVP_MD_CTX_free(all);
}

void sha256_free(EVP_MD_CTX *hash)
{
    EVP_MD_CTX_free(hash);
}

int sha256_file(const char *path, char hex[65])
{
    AUTO_CLOSE int fd = files_open(path, FILES_ANY);
    if (fd < 0)
        return fail_at(GS_FAILED, path, 0, "cannot be opened: %s", files_why(errno));
    EVP_MD_CTX *hash = NULL;
    AUTO_FREE char *buf = xmalloc(PIECE);
    ssize_t n;
    while ((n = read(fd, buf, PIECE)) > 0 || (n < 0 && errno == EINTR))
        sha256_add(&hash, buf, n > 0 ? (size_t)n : 0);
    int error = errno;
    sha256_add(&hash, "", 0);
    sha256_with(hash, "", 0, hex);
    sha256_free(hash);
    return n < 0 ? fail_at(GS_FAILED, path, 0, "cannot be read: %s", strerror(error)) : GS_OK;
}
