# Expected figures of random_samples.json from files d000.csv, d001.csv, ... with columns y, x, g and h.
# Those of jarque-bera and dagostino are scipy.stats.jarque_bera and normaltest.
suppressMessages({library(jsonlite); library(car)})
options(warn=-1, digits=17)
one <- function(f) {
  d <- read.csv(f, stringsAsFactors=TRUE); y<-d$y; x<-d$x; g<-d$g; h<-d$h; n<-nrow(d); out <- list()
  add <- function(test, key, e) { v <- tryCatch(e, error=function(err) NULL); if(!is.null(v)) out[[length(out)+1]] <<- c(list(test=test,key=key), lapply(v, unname)) }
  ty <- any(duplicated(y)); tx <- any(duplicated(x)); dd <- y-x; td <- any(duplicated(abs(dd)))||any(dd==0)
  add("shapiro-wilk","", {t<-shapiro.test(y); list(statistic=t$statistic,p=t$p.value)})
  add("bartlett","g", {t<-bartlett.test(y,g); list(statistic=t$statistic,p=t$p.value)})
  add("levene","g", {t<-leveneTest(y,g,center=mean); list(statistic=t[1,2],p=t[1,3])})
  add("brown-forsythe","g", {t<-leveneTest(y,g,center=median); list(statistic=t[1,2],p=t[1,3])})
  add("fligner","g", {t<-fligner.test(y,g); list(statistic=t$statistic,p=t$p.value)})
  add("kruskal","g", {t<-kruskal.test(y,g); list(statistic=t$statistic,p_chi=t$p.value)})
  add("welch","g", {t<-oneway.test(y~g); list(statistic=t$statistic,p=t$p.value,df2=t$parameter[2])})
  add("anova","g", {t<-anova(lm(y~g)); list(statistic=t[1,4],p=t[1,5],ss_between=t[1,2],ss_within=t[2,2])})
  add("welch-t","h", {t<-t.test(y~h); list(statistic=t$statistic,p=t$p.value,df=t$parameter,ci_low=t$conf.int[1],ci_high=t$conf.int[2])})
  add("mann-whitney","h", {t<-wilcox.test(y~h,exact=TRUE); c(list(statistic=t$statistic), if(!ty) list(p=t$p.value))})
  add("paired-t","x", {t<-t.test(y,x,paired=TRUE); list(statistic=t$statistic,p=t$p.value,ci_low=t$conf.int[1],ci_high=t$conf.int[2])})
  add("wilcoxon","x", {t<-wilcox.test(y,x,paired=TRUE,exact=TRUE); c(list(statistic=t$statistic), if(!td) list(p=t$p.value))})
  add("pearson","x", {t<-cor.test(y,x); list(statistic=t$estimate,p=t$p.value,t=t$statistic,ci_low=t$conf.int[1],ci_high=t$conf.int[2])})
  add("spearman","x", {t<-cor.test(y,x,method="spearman",exact=TRUE); c(list(statistic=t$estimate), if(!ty&&!tx&&n<=9) list(p=t$p.value))})
  add("kendall","x", {t<-cor.test(y,x,method="kendall",exact=TRUE); c(list(statistic=t$estimate), if(!ty&&!tx) list(p=t$p.value))})
  add("anova123","y ~ g + h", {m<-lm(y~g+h); m3<-lm(y~g+h,contrasts=list(g="contr.sum",h="contr.sum")); if(m$df.residual<1||anyNA(coef(m))) NULL else {
     a1<-anova(m);a2<-Anova(m,type=2);a3<-Anova(m3,type=3); list(ss1=I(a1[1:2,2]),p1=I(a1[1:2,5]),ss2=I(a2[1:2,1]),p2=I(a2[1:2,4]),ss3=I(a3[2:3,1]),p3=I(a3[2:3,4]))}})
  add("anova123","y ~ g*h", {m<-lm(y~g*h); m3<-lm(y~g*h,contrasts=list(g="contr.sum",h="contr.sum")); if(m$df.residual<1||anyNA(coef(m))) NULL else {
     a1<-anova(m);a2<-Anova(m,type=2);a3<-Anova(m3,type=3); list(ss1=I(a1[1:3,2]),p1=I(a1[1:3,5]),ss2=I(a2[1:3,1]),p2=I(a2[1:3,4]),ss3=I(a3[2:4,1]),p3=I(a3[2:4,4]))}})
  list(file=f, n=n, results=out)
}
fs <- sort(list.files(pattern="^d[0-9]+.csv$"))
write_json(lapply(fs, one), "ref.json", digits=I(17), auto_unbox=TRUE)
